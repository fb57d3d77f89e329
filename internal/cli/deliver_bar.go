package cli

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"wiebelt/internal/commandline"
	"wiebelt/internal/delivery/outbox"
)

// deliverBar shows on a terminal how far a delivery is. Elsewhere it shows
// nothing. Safe for concurrent use.
type deliverBar struct {
	mu      sync.Mutex
	bar     *progressbar.ProgressBar // nil without a terminal
	total   int64
	decided int64            // bytes of decided items
	sent    map[string]int64 // bytes of the others that went out, in this try
}

func newDeliverBar(w io.Writer, total int64, what string) *deliverBar {
	d := &deliverBar{total: total, sent: map[string]int64{}}
	if isTerminal(w) {
		d.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	return d
}

// isTerminal reports whether a stream of ours is a terminal.
func isTerminal(stream any) bool {
	if o, ok := stream.(*commandline.Output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// items tells what is decided.
func (d *deliverBar) items(items []outbox.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.sent
	d.decided, d.sent = 0, map[string]int64{}
	for _, it := range items {
		if it.State.Over() {
			d.decided += it.Size
		} else {
			d.sent[it.ID] = before[it.ID]
		}
	}
	d.show()
}

// progress tells how much of an item went out.
func (d *deliverBar) progress(id string, sent int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ours := d.sent[id]; ours {
		d.sent[id] = sent
		d.show()
	}
}

func (d *deliverBar) show() {
	n := d.decided
	for _, sent := range d.sent {
		n += sent
	}
	if d.bar != nil && n < d.total { // a full bar would vanish
		_ = d.bar.Set64(n)
	}
}

// say prints a line that the bar does not spoil.
func (d *deliverBar) say(w io.Writer, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != nil {
		_ = d.bar.Clear()
	}
	fmt.Fprintln(w, line)
}

func (d *deliverBar) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != nil {
		_ = d.bar.Clear()
		_ = d.bar.Exit()
		d.bar = nil
	}
}

func (r *delivery) progress(id string, sent, _ int64) {
	if b := r.bar.Load(); b != nil {
		b.progress(id, sent)
	}
}
