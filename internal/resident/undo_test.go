package resident

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
)

// A removed call is in no file any more, comes back as it was while that is
// possible, and not after everything was deleted on purpose.
func TestUndoRemove(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // its browser is a script
	}
	d := newDesktop(t)
	e := missedCall()
	e.Name = "K. Anarievogel"
	id := d.put(e)
	at := deskapi.CallsEntries{Entries: []int64{id}}
	was := d.get(id)
	remove := func() {
		t.Helper()
		if a := d.ask(deskapi.KindCallsRemove, at, nil); a != "" {
			t.Fatal(a)
		}
	}
	remove()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(historyPath(d.o.Dirs)), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("Anarievogel")) {
			t.Errorf("%s still has the name", filepath.Base(f))
		}
	}
	if a := d.ask(deskapi.KindCallsUndo, at, nil); a != "" || d.get(id) != was {
		t.Errorf("%s: back as %+v, was %+v", a, d.get(id), was)
	}
	var failed deskapi.CallsFailed
	if a := d.ask(deskapi.KindCallsUndo, at, &failed); a != deskapi.KindCallsFailed || failed.Sentence != "Deze oproep is er niet meer." {
		t.Errorf("a second time: %s %+v", a, failed)
	}
	remove()
	if raw, err := json.Marshal(deskapi.Forget{All: true}); err != nil || d.forget(t.Context(), raw).Error != "" {
		t.Fatal("not forgotten")
	}
	if a := d.ask(deskapi.KindCallsUndo, at, nil); a != deskapi.KindCallsFailed {
		t.Errorf("after everything was deleted: %s", a)
	}
	if _, err := d.store.Get(t.Context(), id); !errors.Is(err, history.ErrGone) {
		t.Errorf("it is back: %v", err)
	}
}

// Removed calls are forgotten together, some time after the last one.
func TestRemovedAreForgotten(t *testing.T) {
	var r removed
	var later []func()
	after := func(_ time.Duration, f func()) { later = append(later, f) }
	for i := range int64(undoMost + 2) {
		r.keep(undoable{Entry: history.Entry{ID: i + 1}}, after)
	}
	if _, ok := r.take(2, false); ok || len(r.all) != undoMost {
		t.Errorf("%d are kept", len(r.all))
	}
	later[0]()
	if _, ok := r.take(50, false); !ok {
		t.Error("forgotten though one came after it")
	}
	later[len(later)-1]()
	if _, ok := r.take(51, false); ok || r.all != nil {
		t.Error("not forgotten")
	}
}
