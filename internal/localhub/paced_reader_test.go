package localhub

import (
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// slow returns a fixed number of bytes every two seconds.
type slow struct {
	now  time.Time
	each int
}

func (s *slow) Read(p []byte) (int, error) {
	s.now = s.now.Add(2 * time.Second)
	return min(len(p), s.each), nil
}

type lastDeadline struct{ read time.Time }

func (d *lastDeadline) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *lastDeadline) SetWriteDeadline(t time.Time) error { return nil }

// TestPatience checks that a trickling delivery is aborted soon after the time allowed for
// a stalled one, and that one at modem speed is not.
func TestPatience(t *testing.T) {
	for each, want := range map[int]time.Duration{1: silence + 10*time.Second, 2 * leastRate * 9 / 10: 6 * time.Minute, 2 * leastRate: longest + 10*time.Second} {
		began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		body := &slow{began, each}
		var last lastDeadline
		p := newPacedReader(body, &last, func() time.Time { return body.now }, longest)
		for buf := make([]byte, 64<<10); ; {
			must.Get(p.Read(buf))(t)
			if body.now.After(last.read) {
				break
			}
		}
		if took := body.now.Sub(began); took > want || each == 2*leastRate && took < longest {
			t.Errorf("%d bytes every two seconds: given up after %v, want %v", each, took, want)
		}
	}
}
