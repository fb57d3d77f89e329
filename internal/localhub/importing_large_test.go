package localhub_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
)

// people is a file of any size that takes no memory.
type people struct {
	n      int
	format localhub.Format
	last   string // a row behind the others

	made int
	b    bytes.Buffer
}

func (p *people) Read(to []byte) (int, error) {
	for p.b.Len() == 0 {
		switch {
		case p.format == localhub.CSV && p.made == 0:
			p.b.WriteString("id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;toevoeging;postcode;plaats;landIso;producent_code;producent;telefoon;telefoon2;email\r\n")
		case p.made > p.n:
			return 0, io.EOF
		case p.made == p.n && p.last != "":
			p.b.WriteString(p.last)
		case p.made == p.n:
			p.made++
			return 0, io.EOF
		}
		if p.made < p.n {
			p.write(p.made)
		}
		p.made++
	}
	return p.b.Read(to)
}

func (p *people) write(i int) {
	if p.format == localhub.CSV {
		fmt.Fprintf(&p.b, "person-%d;%d;J.M.;van der;Naam-%c;Lindelaan;%d;A;1234AB;Ons Dorp;NL;P001;Kantoor Ons Dorp;06-%08d;020 %07d;p%d@example.org\r\n",
			i*7919%p.n, 100000+i, 'A'+i%26, i%200+1, i, i/3, i)
		return
	}
	fmt.Fprintf(&p.b, `{"id":"person-%d","backofficerelatienummer":"%d","voorletters":"J.M.","achternaam":"Naam-%c","voorvoegsel":"van der","woonadres":{"straat":"Lindelaan","huisnummer":"%d","toevoeging":"A","postcode":"1234AB","plaats":"Ons Dorp","landIso":"NL"},"producent":{"code":"P001","description":"Kantoor Ons Dorp"},"laatstGewijzigdDoor":{"code":"","description":""},"link":"https://hub.example/","telefoon":["06-%08d","020 %07d"],"email":["p%d@example.org"]}`+"\n",
		i*7919%p.n, 100000+i, 'A'+i%26, i%200+1, i, i/3, i)
}

func large() int {
	if raced {
		return 3_000
	}
	return 40_000
}

// oneByOne is how long it takes to add a contact by itself.
func oneByOne(t *testing.T) time.Duration {
	t.Helper()
	const n = 50
	d := openData(t, t.TempDir())
	began := time.Now()
	for i := range n {
		k := contact.Contact{ID: fmt.Sprint("person-", i), Initials: "J.M.", Prefix: "van der", FamilyName: "Naam"}
		if _, err := d.AddContact(t.Context(), localhub.Record{Numbers: []string{fmt.Sprintf("06-%08d", i)}, Contact: k}); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began) / n
}

// TestImportIsFastAndSmall: forty thousand contacts in half the time of one by one
// at most, and in no more memory than four thousand.
func TestImportIsFastAndSmall(t *testing.T) {
	least := oneByOne(t)
	for name, f := range map[string]localhub.Format{"CSV": localhub.CSV, "JSON": localhub.JSON} {
		var peaks []uint64
		for _, n := range []int{large() / 10, large()} {
			d := openData(t, t.TempDir())
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			idle, peak := m.HeapAlloc, uint64(0)
			began := time.Now()
			got, err := d.Import(t.Context(), &people{n: n, format: f}, f, localhub.ImportOptions{Progress: func(int, int64) {
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}})
			took := time.Since(began)
			if err != nil || got != n || count(t, d) != n {
				t.Fatal(got, err)
			}
			grown := peak - min(idle, peak)
			peaks = append(peaks, grown)
			t.Logf("%s: %d contacts in %v, %.1f MB above idle, %v one by one", name, n, took.Round(time.Millisecond), float64(grown)/1e6, least*time.Duration(n))
			if took > least*time.Duration(n)/2 && !raced {
				t.Errorf("%s: %d contacts took %v, one by one they take %v each", name, n, took, least)
			}
			if grown > 20e6 {
				t.Errorf("%s: %d contacts took %d bytes", name, n, grown)
			}
		}
		if peaks[1] > peaks[0]+10e6 {
			t.Errorf("%s: memory grows with the file: %v", name, peaks)
		}
	}
}

// TestImportAllOrNone: a bad last row, and an end in the middle.
func TestImportAllOrNone(t *testing.T) {
	for name, f := range map[string]localhub.Format{"CSV": localhub.CSV, "JSON": localhub.JSON} {
		d := openData(t, t.TempDir())
		if n, lines := importText(t, d, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{}); n != 1 {
			t.Fatal(lines)
		}
		unchanged := func(what string) {
			t.Helper()
			_, found, err := d.Contact(t.Context(), "van-eerder")
			if n := count(t, d); n != 1 || !found || err != nil {
				t.Fatalf("%s: %s: %d contacts, %v", name, what, n, err)
			}
		}
		n := large() / 20
		if raced {
			n = 1000
		}
		last, where := ";;;;;;;;;;;;;;;\"\"\r\nvan-eerder;;;;X;;;;;;;;;;;geen adres\r\n", fmt.Sprint("line ", n+3)
		if f == localhub.JSON {
			last, where = `{"achternaam":"X","email":"geen adres"}`, fmt.Sprint("record ", n+1)
		}
		for _, replace := range []bool{false, true} {
			_, err := d.Import(t.Context(), &people{n: n, format: f, last: last}, f, localhub.ImportOptions{Replace: replace})
			var wrong *localhub.ImportError
			if !errors.As(err, &wrong) || fmt.Sprint(wrong.Lines()) != "["+where+": email: is no e-mail address]" {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a bad last row")
			for _, after := range []int{1000, n} { // while reading, and before storing
				ctx, cancel := context.WithCancel(t.Context())
				_, err := d.Import(ctx, &people{n: n, format: f}, f, localhub.ImportOptions{Replace: replace, Progress: func(rows int, _ int64) {
					if rows >= after {
						cancel()
					}
				}})
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				unchanged("an end in the middle")
			}
			_, err = d.Import(t.Context(), io.MultiReader(&people{n: n, format: f}, broken{}), f, localhub.ImportOptions{Replace: replace})
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a file that cannot be read on")
		}
		if got, err := d.Import(t.Context(), &people{n: n, format: f}, f, localhub.ImportOptions{}); got != n || err != nil || count(t, d) != n+1 {
			t.Errorf("%s: then: %d, %v", name, got, err)
		}
	}
}

var errBroken = errors.New("broken disk")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// TestImportWhileServing: a running hub goes on answering, sees all of an import
// or nothing, and its own writing waits for its turn.
func TestImportWhileServing(t *testing.T) {
	n := large() / 2
	dir := t.TempDir()
	h := start(t, localhub.Config{Dir: dir})
	if _, err := h.AddContact(t.Context(), person("Eerder", "0699999999")); err != nil {
		t.Fatal(err)
	}
	tok, c := token(t, h), client(t)
	ask := func(number string) int {
		return len(items(t, do(t, c, "GET", h.BaseURL()+"/contact/contacts/telephony?q="+number, "", "Authorization", "Bearer "+tok)))
	}
	d := openData(t, dir)
	done := make(chan error, 1)
	reading := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := d.Import(t.Context(), &people{n: n, format: localhub.CSV}, localhub.CSV, localhub.ImportOptions{Progress: func(int, int64) {
			once.Do(func() {
				// The import waits for this: nothing is locked while it reads.
				if err := h.SetClientSecret(t.Context(), "meanwhile", org, secret); err != nil {
					t.Error(err)
				}
				close(reading)
			})
		}})
		done <- err
	}()
	<-reading
	var slowest, longest time.Duration
	lookups, writes := 0, 0
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		began := time.Now()
		first := ask("0600000001")
		last := ask(fmt.Sprintf("06%08d", n-1))
		if ask("0699999999") != 1 {
			t.Fatal("who was there is not found")
		}
		slowest = max(slowest, time.Since(began)/3)
		lookups += 3
		if first > last || ended && last != 1 {
			t.Fatalf("the first is found %d times, the last %d", first, last)
		}
		began = time.Now()
		if err := h.SetClientSecret(t.Context(), "another", org, secret); err != nil {
			t.Fatalf("the hub cannot write: %v", err)
		}
		longest = max(longest, time.Since(began))
		writes++
	}
	t.Logf("%d contacts: %d lookups meanwhile, the slowest three %v each; %d writes, the longest wait %v", n, lookups, slowest.Round(time.Millisecond), writes, longest.Round(time.Millisecond))
	if slowest > 2*time.Second {
		t.Errorf("a lookup took %v", slowest)
	}
}

// TestImportProcess is the import that TestImportIsKilled ends; on its own it
// does nothing.
func TestImportProcess(t *testing.T) {
	dir := os.Getenv("IMPORT_PROCESS_DIR")
	if dir == "" {
		return
	}
	d := openData(t, dir)
	fmt.Println("begin")
	if _, err := d.Import(t.Context(), &people{n: large() / 2, format: localhub.CSV}, localhub.CSV, localhub.ImportOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("stored")
}

// TestImportIsKilled: after kill -9 the hub has what it had, or everything.
func TestImportIsKilled(t *testing.T) {
	rounds := 5
	if os.Getenv("SOAK") != "" {
		rounds = 50
	}
	dir := t.TempDir()
	d := openData(t, dir)
	if n, lines := importText(t, d, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{}); n != 1 {
		t.Fatal(lines)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	storing := 0 // rounds that ended in the middle of storing
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestImportProcess$", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), "IMPORT_PROCESS_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "begin" {
			t.Fatal("the import did not start")
		}
		ended := make(chan bool, 1)
		go func() { ended <- lines.Scan() && lines.Text() == "stored" }() // ends with the process
		// The log grows while the contacts are stored; it is all but empty before.
		enough := random.Int64N(2 << 20)
		if round == 0 {
			enough = -1 // at once, while the file is read
		}
		stored, gone := false, false
		tick := time.NewTicker(time.Millisecond)
		for !gone {
			select {
			case stored = <-ended:
				gone = true
			case <-tick.C:
				if i, err := os.Stat(filepath.Join(dir, "hub.db-wal")); err == nil && i.Size() > enough+64<<10 || enough < 0 {
					gone = true
				}
			}
		}
		tick.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		after := openData(t, dir)
		if ok, err := after.Intact(t.Context()); !ok || err != nil {
			t.Fatalf("round %d (seed %d): the database is broken: %v", round, seed, err)
		}
		_, found, err := after.Contact(t.Context(), "van-eerder")
		switch n := count(t, after); {
		case err != nil:
			t.Fatal(err)
		case found && n == 1 && !stored:
			if enough >= 0 {
				storing++
			}
		case !found && n == large()/2: // it was quicker than we were: back to the beginning
			if n, lines := importText(t, after, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{Replace: true}); n != 1 {
				t.Fatal(lines)
			}
		default:
			t.Fatalf("round %d (seed %d): %d contacts", round, seed, n)
		}
	}
	t.Logf("%d rounds, %d of them ended in the middle of storing", rounds, storing)
	if storing == 0 {
		t.Errorf("no round of %d was ended while it stored (seed %d)", rounds, seed)
	}
}
