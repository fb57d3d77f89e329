package cli

import (
	"fmt"
	"io"
	"sync"

	"github.com/schollz/progressbar/v3"

	"wiebelt/internal/commandline"
	"wiebelt/internal/delivery/outbox"
)

func isTerminal(stream any) bool { return commandline.Terminal(stream) != nil }

// newBar shows the progress of a task, if there is somebody to see it.
func newBar(w io.Writer, doing string, size int64, shown bool, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size, append(more, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(doing),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetVisibility(shown))...)
}

func endBar(bar *progressbar.ProgressBar) {
	_ = bar.Clear()
	_ = bar.Exit()
}

// deliverBar shows the progress of a delivery. Safe for concurrent use.
type deliverBar struct {
	w io.Writer

	mu      sync.Mutex
	bar     *progressbar.ProgressBar // nil before the files are in the outbox
	total   int64
	decided int64            // bytes of decided items
	sent    map[string]int64 // bytes of the others sent in the current try
}

// begin shows the bar for total bytes.
func (d *deliverBar) begin(doing string, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bar, d.total, d.sent = newBar(d.w, doing, total, isTerminal(d.w)), total, map[string]int64{}
}

func (d *deliverBar) updateItems(items []outbox.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.sent
	d.decided, d.sent = 0, map[string]int64{}
	for _, it := range items {
		if it.State.IsFinal() {
			d.decided += it.Size
		} else {
			d.sent[it.ID] = before[it.ID]
		}
	}
	d.redraw()
}

func (d *deliverBar) progress(id string, sent, _ int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ours := d.sent[id]; ours {
		d.sent[id] = sent
		d.redraw()
	}
}

func (d *deliverBar) redraw() {
	n := d.decided
	for _, sent := range d.sent {
		n += sent
	}
	if n < d.total { // a full bar would vanish
		_ = d.bar.Set64(n)
	}
}

// printLine prints a line without disturbing the bar.
func (d *deliverBar) printLine(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.bar.Clear()
	fmt.Fprintln(d.w, line)
}

func (d *deliverBar) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	endBar(d.bar)
	d.total, d.sent = 0, nil // what is sent from here on does not count
}
