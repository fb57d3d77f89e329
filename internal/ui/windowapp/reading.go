package windowapp

import (
	"context"
	"log/slog"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/session"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/driver"
)

// readers reports the windows' contents to screen readers while there are any.
type readers struct {
	app  *driver.App
	post func(func())
	lang func() text.Language // only for the goroutine of post
	log  *slog.Logger
}

// follow reports to screen readers, whenever there are any, until ctx ends.
func (r readers) follow(ctx context.Context) {
	w, err := session.Watch(ctx, r.log)
	if err != nil {
		r.log.Warn("screen readers go unnoticed", "why", err)
		return
	}
	defer w.Close()
	there, end := false, func() {}
	defer func() { end() }()
	for {
		if now := w.State().Reader; now != there {
			there = now
			end()
			if end = func() {}; there {
				end = r.begin(ctx)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
	}
}

// begin shows the windows to screen readers until end is called.
func (r readers) begin(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	b, done := screenreader.New(), make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Run(ctx); err != nil {
			r.log.Warn("screen readers cannot read the windows", "why", err)
		}
	}()
	r.post(func() {
		r.app.OnTreeChanged(func(t screenreader.Tree) {
			lang := r.lang() // now: readers query on another goroutine
			t.PositionText = func(i, of int) string { return lang.T(text.CardRowAt, i, of) }
			b.Show(t)
		})
	})
	return func() {
		r.post(func() { r.app.OnTreeChanged(nil) })
		cancel()
		<-done
	}
}
