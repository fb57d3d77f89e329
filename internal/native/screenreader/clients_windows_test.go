package screenreader

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"wiebelt/internal/testutil/winetest"
)

// TestChurn shows and removes ten thousand cards while clients walk them from
// their own threads. In the end no client may hold an object, and the
// program's resource use must be what it was.
func TestChurn(t *testing.T) {
	b := New()
	var walks atomic.Int64
	var walkers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		walkers.Go(func() {
			runtime.LockOSThread()
			for {
				select {
				case <-done:
					return
				default:
				}
				if f := b.provide(b.now.Load().nodes[1], asFragment); f != nil {
					walkQuietly(f)
					walks.Add(1)
				}
			}
		})
	}
	next, memory, largest := uintptr(0), uint64(0), 0
	const cards = 10_000
	for i := range int64(cards) {
		b.setTree(Tree{Windows: []*Node{testCard(ID(10+i), fmt.Sprint("Inkomend ", i), i%2 == 0)}})
		for seen := walks.Load(); i%50 == 0 && walks.Load() == seen; {
			runtime.Gosched()
		}
		largest = max(largest, held())
		b.setTree(Tree{})
		if i == cards/10 {
			next, memory = winetest.Usage()
		}
	}
	close(done)
	walkers.Wait()
	n, m := winetest.Usage()
	t.Logf("%d walks, at most %d objects; the next handle is %d, then %d; memory %d, then %d", walks.Load(), largest, next, n, memory, m)
	if held() != 0 || largest > 100 || largest == 0 {
		t.Errorf("%d objects are left of %d", held(), largest)
	}
	const handle = 4 // step between handles: at most one new handle for every 40 cards
	if n > next+handle*cards/40 || m > memory+memory/4 || memory == 0 {
		t.Error("the program grows")
	}
}

// walkQuietly walks a fragment that may disappear meanwhile, and releases it.
func walkQuietly(f *comInterface) {
	var v variant
	simple := f.as(asSimple)
	if call(simple, 5, propertyName, into(&v)) == sOK {
		variantClear.Call(into(&v))
	}
	simple.release()
	var c *comInterface
	call(f, methodNavigate, toFirst, into(&c))
	for c != nil {
		var after *comInterface
		call(c, methodNavigate, toNext, into(&after))
		walkQuietly(c)
		c = after
	}
	release(f)
}

// TestServe shows a card to a client in another process until standard input ends.
func TestServe(t *testing.T) {
	b := begin(t)
	Attach(openWindow(t), 1)
	b.shows(Tree{Windows: []*Node{testCard(2, "Inkomend", false)}, Press: func(ID) {}})
	fmt.Println("ready")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		switch cmd := strings.TrimSpace(sc.Text()); cmd {
		case "wanted":
			fmt.Println("ok", cmd, HasClients())
		case "hide":
			b.shows(Tree{})
			fmt.Println("ok", cmd)
		case "quit":
			os.Exit(0) // regardless of what the system still waits for
		}
	}
}

// stuckAfter is how long TestWalk may find nothing before it considers wine hung.
const stuckAfter = 20 * time.Second

// TestWalk explores, as a reader does from another process and on its own thread, the
// windows of each class that it reads from standard input.
func TestWalk(t *testing.T) {
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		fmt.Println("found", walk(strings.TrimSpace(sc.Text())))
	}
}

func walk(class string) string {
	all, more, done := []winetest.Found{}, make(chan winetest.Found), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED)
		if err == nil {
			err = winetest.Explore(class, func(f winetest.Found) { more <- f })
		}
		done <- err
	}()
	for {
		select {
		case f := <-more:
			all = append(all, f)
		case err := <-done:
			b, _ := json.Marshal(all)
			return fmt.Sprint(string(b), " ", err)
		case <-time.After(stuckAfter):
			return "nothing"
		}
	}
}
