package server

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/storytest"
)

// stepwise is a fake exchange that waits until the user has received everything before it
// sends the next event: after each, it sends a call as a mark. What was sent before is in
// the bucket before the mark's end, which is in another batch than its beginning.
type stepwise struct {
	simulate.Softphone
	seen  <-chan call.State // of marks, by the user
	story string
	marks int
}

const markNumber = "0698760019"

// SendUpdate implements simulate.Softphone.
func (s *stepwise) SendUpdate(ctx context.Context, n simulate.Update) error {
	if err := s.Softphone.SendUpdate(ctx, n); err != nil {
		return err
	}
	s.marks++
	mark := simulate.Update{Verb: simulate.Ring, Call: simulate.Call{ID: fmt.Sprint(s.story, " mark ", s.marks), Number: markNumber, Line: "0207654321"}}
	for _, state := range []call.State{call.Ringing, call.Ended} {
		if state == call.Ended {
			mark.Verb = simulate.End
		}
		if err := s.Softphone.SendUpdate(ctx, mark); err != nil {
			return err
		}
		for got := range s.seen {
			if got == state {
				break
			}
		}
	}
	return nil
}

// site returns a relay that listens to an exchange of a kind, in that kind's way.
func site(t *testing.T, kind string) (*office, simulate.Softphone) {
	k := registry.Of(kind)
	if k.ReportsToRelay() {
		o := start(t)
		at := must.Get(url.Parse(o.at.Web))(t)
		port, _ := strconv.Atoi(at.Port())
		return o, open(t, kind, simulate.Options{Port: port, PathToken: o.secret})
	}
	f := open(t, kind, simulate.Options{})
	a := linktest.Account(f.(simulate.Server).Address())
	o := start(t, func(c *Config) {
		c.Links = []links.Link{{Name: kind, Kind: kind, Extension: a.Extension, Identity: 1, Open: func(hears func(string) bool) (link.Phone, error) {
			a := a
			if k.AllExtensions {
				a.Extension, a.HasExtension = "", hears
				must.Soon(t, func() (bool, any) { return hears("115"), "nobody with the extension" }) // it asks once
			}
			return fromsettings.Link(kind, a)
		}}}
	})
	return o, f
}

func open(t *testing.T, kind string, with simulate.Options) simulate.Softphone {
	f := must.Get(simulate.Open(t.Context(), kind, with))(t)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// exchanges returns the kinds to which a relay listens.
func exchanges() (all []string) {
	for _, name := range registry.Names() {
		if k := registry.Of(name); k.ReportsToRelay() || k.Requires(registry.NeedsUser) {
			all = append(all, name)
		}
	}
	return all
}

// TestStories: every story of calls, from every exchange, through a relay and NATS, reaches
// a user as specified for it.
func TestStories(t *testing.T) {
	for _, kind := range exchanges() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o, f := site(t, kind)
			anna := o.desk(users.Entry{User: "anna", Extensions: []string{"115"}})
			must.Do(t, f.Ready(t.Context()))
			for _, story := range simulate.Builtin() {
				told, seen, over := storytest.New(t), make(chan call.State), make(chan struct{})
				var reading sync.WaitGroup
				reading.Go(func() {
					for {
						select {
						case e := <-anna.Events:
							if strings.HasSuffix(e.Number, markNumber[1:]) {
								seen <- e.State
							} else if err := told.Receive(e); err != nil {
								t.Error(err)
							}
						case <-over:
							return
						}
					}
				})
				s := &stepwise{Softphone: f, seen: seen, story: story.ID}
				play := simulate.Play{Capabilities: registry.Of(kind).Capabilities, Speed: 1e6, Repeat: 1, Prefix: story.ID + "-", OnStep: func(s simulate.Step) { told.Set(s.At) }}
				err := play.Run(t.Context(), s, story)
				close(over)
				reading.Wait()
				if err != nil {
					t.Fatal(err)
				}
				got, want := strings.Join(told.Lines(), "\n  "), strings.Join(storytest.Want(t, story, kind), "\n  ")
				if len(registry.Of(kind).Capabilities.Reasons) == 0 { // a relay knows who has answered
					got = strings.ReplaceAll(got, "over completed", "over")
				}
				if got != want {
					t.Errorf("%s:\n  %s\nwant\n  %s", story.ID, got, want)
				}
			}
		})
	}
}
