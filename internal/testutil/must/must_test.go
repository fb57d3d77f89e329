package must

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// told is a test that notes why it ended.
type told struct{ why string }

func (t *told) Helper() {}

func (t *told) Fatal(why ...any) {
	t.why = fmt.Sprint(why...)
	runtime.Goexit()
}

// TestPatience checks that values that are not awaited do not make a test wait longer, and that
// it does not wait at a closed channel.
func TestPatience(t *testing.T) {
	for what, wait := range map[string]func(Test, chan int){
		"never ten; last: 3": func(t Test, c chan int) { When(t, c, "ten", func() (bool, any) { return false, 3 }) },
		"ten never came":     func(t Test, c chan int) { Until(t, c, "ten", func(n int) bool { return n == 10 }) },
	} {
		for _, closed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				c, test, began := make(chan int), &told{}, time.Now()
				ended := make(chan struct{})
				go func() { defer close(ended); wait(test, c) }()
				if closed {
					close(c)
				} else {
					go func() { // reports without end
						for {
							select {
							case c <- 3:
								time.Sleep(Patience / 2)
							case <-ended:
								return
							}
						}
					}()
				}
				<-ended
				if took := time.Since(began); closed != (took == 0) || took > Patience || !strings.HasPrefix(test.why, what) {
					t.Errorf("closed: %v; after %v: %q, want %q", closed, took, test.why, what)
				}
			})
		}
	}
}
