package driver

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
)

const frameInterval = time.Second / 60

type animation struct {
	of      *fyne.Animation
	begun   time.Time
	reverse bool
	stopped bool
}

// StartAnimation starts or restarts an animation. If motion is disabled, one that would
// end completes immediately.
func (a *App) StartAnimation(of *fyne.Animation) {
	a.StopAnimation(of)
	if a.settings.desktop.LessMotion && of.RepeatCount != fyne.AnimationRepeatForever && !of.AutoReverse {
		of.Tick(1)
		return
	}
	a.animations = append(a.animations, &animation{of: of, begun: time.Now()})
}

// StopAnimation stops an animation where it is.
func (a *App) StopAnimation(of *fyne.Animation) {
	for _, r := range a.animations {
		if r.of == of {
			r.stopped = true
		}
	}
}

func (r *animation) advance(now time.Time) {
	done := float32(1)
	if r.of.Duration > 0 {
		done = min(1, float32(now.Sub(r.begun))/float32(r.of.Duration))
	}
	at := done
	if r.reverse {
		at = 1 - done
	}
	curve := r.of.Curve
	if curve == nil {
		curve = fyne.AnimationEaseInOut
	}
	r.of.Tick(curve(at))
	if done < 1 || r.stopped {
		return
	}
	switch {
	case r.of.AutoReverse && !r.reverse:
		r.reverse = true
	case r.of.RepeatCount != fyne.AnimationRepeatForever:
		r.stopped = true
		return
	default:
		r.reverse = false
	}
	r.begun = now
}

// after calls f on the loop after a while; stop, also for the loop only, cancels that.
func (a *App) after(wait time.Duration, f func()) (stop func()) {
	stopped := false
	t := time.AfterFunc(wait, func() {
		a.queue.add(func() {
			if !stopped {
				f()
			}
		})
	})
	return func() { stopped = true; t.Stop() }
}

// tick advances animations and returns when to be called next, zero for never.
func (a *App) tick(now time.Time) (next time.Time) {
	for _, r := range slices.Clone(a.animations) {
		if !r.stopped {
			r.advance(now)
		}
	}
	a.animations = slices.DeleteFunc(a.animations, func(r *animation) bool { return r.stopped })
	if len(a.animations) > 0 {
		next = now.Add(frameInterval)
	}
	return next
}
