package driver

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
)

// step is the time between two frames of an animation.
const step = time.Second / 60

// animation is a running animation.
type animation struct {
	a       *fyne.Animation
	begun   time.Time
	left    int
	reverse bool
	over    bool
}

// StartAnimation starts or restarts an animation. If motion is disabled, one that would
// end completes immediately.
func (d *driver) StartAnimation(a *fyne.Animation) {
	d.StopAnimation(a)
	if d.app.settings.desktop.still && a.RepeatCount != fyne.AnimationRepeatForever && !a.AutoReverse {
		a.Tick(1)
		return
	}
	d.animations = append(d.animations, &animation{a: a, begun: time.Now(), left: a.RepeatCount})
}

// StopAnimation stops an animation where it is.
func (d *driver) StopAnimation(a *fyne.Animation) {
	for _, r := range d.animations {
		if r.a == a {
			r.over = true
		}
	}
}

// advance shows the animation at the given time.
func (r *animation) advance(now time.Time) {
	done := float32(1)
	if r.a.Duration > 0 {
		done = min(1, float32(now.Sub(r.begun))/float32(r.a.Duration))
	}
	at := done
	if r.reverse {
		at = 1 - done
	}
	curve := r.a.Curve
	if curve == nil {
		curve = fyne.AnimationEaseInOut
	}
	r.a.Tick(curve(at))
	if done < 1 || r.over {
		return
	}
	switch {
	case r.a.AutoReverse && !r.reverse:
		r.reverse = true
	case r.left == 0:
		r.over = true
		return
	default:
		if r.left > 0 {
			r.left--
		}
		r.reverse = false
	}
	r.begun = now
}

// after calls f on the loop after a while; stop, also for the loop only, cancels that.
func (d *driver) after(wait time.Duration, f func()) (stop func()) {
	stopped := false
	t := time.AfterFunc(wait, func() {
		d.queue.add(func() {
			if !stopped {
				f()
			}
		})
	})
	return func() { stopped = true; t.Stop() }
}

// tick advances animations and returns when to be called next, zero for never.
func (d *driver) tick(now time.Time) (next time.Time) {
	for _, r := range slices.Clone(d.animations) {
		if !r.over {
			r.advance(now)
		}
	}
	d.animations = slices.DeleteFunc(d.animations, func(r *animation) bool { return r.over })
	if len(d.animations) > 0 {
		next = now.Add(step)
	}
	return next
}
