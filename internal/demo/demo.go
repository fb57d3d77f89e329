// Package demo lets people without a hub, softphone or credentials see everything that
// Wiebelt does: it runs a local hub with made-up people and a simulated softphone, and
// plays one call for every kind of card. It installs nothing and leaves nothing behind.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/resident"
	"wiebelt/internal/simulate"
	"wiebelt/internal/tempfolder"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// Options configures a run of the demo.
type Options struct {
	Play            bool   // play every call once, then end
	Pictures        string // folder for a picture of each card, "" for none
	Hold            time.Duration
	ProfileDir      string // "" is a folder of its own that goes with the demo
	Version, Commit string
	Exe             string        // as in resident.Options
	Language        text.Language // "" is the system's
	Theme           string        // "" is the system's
	Out             io.Writer
	Log             *slog.Logger
}

const (
	clientID     = "demo"
	organisation = "0000"
	contactCount = 3000
	ringFor      = 25 * time.Second // a call played from the demo's window
)

// Run runs the demo until ctx ends, the user quits, or, with Play, every call was
// played. It must be called on the main goroutine. With Play, it returns an error
// if a card was not painted.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir := o.ProfileDir
	if dir == "" {
		tmp, lock, err := tempfolder.Make("wiebelt-demo-", "demo.lock")
		if err != nil {
			return err
		}
		defer func() { _ = errors.Join(lock.Unlock(), os.RemoveAll(tmp)) }()
		dir = tmp
	}
	dirs, err := profile.Find(dir)
	if err != nil {
		return err
	}
	h, clientSecret, err := startHub(ctx, o.Log)
	if err != nil {
		return err
	}
	defer h.Close()
	s := settings.Defaults()
	s.Lines = []settings.Line{{Number: officeNumber, Name: "Schade"}}
	s.Support.Contact = "Jan (IT), toestel 140"
	if o.Language != "" {
		s.UI.Language = string(o.Language)
	}
	if o.Theme != "" {
		s.UI.Theme = o.Theme
	}
	painted := make(chan card.Painted, 64)
	d := &runner{player: player{faults: h.Faults(), painted: painted}, ready: make(chan struct{})}
	defer d.running.Wait() // before the hub is closed
	var failed error
	err = resident.Run(ctx, resident.Options{
		Dirs: dirs, ProfileDir: dir, Exe: o.Exe, Settings: s, Version: o.Version, Commit: o.Commit, Log: o.Log,
		Demo: &resident.Demo{
			Hub: hub.Config{BaseURL: h.BaseURL(), ClientID: clientID, OrganisationCode: organisation,
				Secret: func(context.Context) (string, error) { return clientSecret, nil }},
			HubURL: h.HubURL(), ShowWindow: !o.Play, Calls: d.calls, Play: d.play,
			Painted: func(p card.Painted) {
				select {
				case painted <- p:
				default: // no call is being played
				}
			},
			Ready: func(ctx context.Context, port int, tokens secret.Tokens, mended func()) {
				if failed = d.connect(ctx, port, tokens, mended); failed == nil && o.Play {
					failed = d.playAll(ctx, o, fromsettings.Language(s))
				}
				if failed != nil || o.Play {
					cancel()
				}
			},
		},
	})
	return errors.Join(failed, err)
}

func startHub(ctx context.Context, log *slog.Logger) (*localhub.Hub, string, error) {
	h, err := localhub.Start(ctx, localhub.Config{Synthetic: contactCount, Demo: true, Log: log})
	if err != nil {
		return nil, "", err
	}
	clientSecret, err := h.AddClient(ctx, clientID, organisation)
	if err == nil {
		_, err = h.AddInvented(ctx, demoContacts...)
	}
	if err != nil {
		return nil, "", errors.Join(err, h.Close())
	}
	return h, clientSecret, nil
}

// demoContacts has the people in the demo's calls who are not covered by the local
// hub's own sample numbers.
var demoContacts = []localhub.Record{
	person("A.", "", "Aardenburg", "200310", "Kade", "12", "A", slowNumber),
	person("F.", "el", "Idrissi", "200311", "Laan", "4", "", goneNumber),
	person("S.", "van", "Loon", "200312", "Markt", "7", "", refusedNumber),
}

func person(initials, prefix, family, relation, street, house, addition, number string) localhub.Record {
	return localhub.Record{Numbers: []string{number}, Contact: contact.Contact{
		RelationNumber: relation, Initials: initials, Prefix: prefix, FamilyName: family,
		Address:  contact.Address{Street: street, Number: house, Addition: addition, PostalCode: "1234 AB", City: "Ons Dorp"},
		Producer: contact.CodedValue{Code: "P1", Description: "Producent Een"}, LastModifiedBy: contact.CodedValue{Code: "M1",
			Description: "Medewerker"}}}
}

type runner struct {
	player  player
	ready   chan struct{}
	running sync.WaitGroup // calls requested by the window
	playMu  sync.Mutex     // held while a call is played

	mu   sync.Mutex         // protects stop
	stop context.CancelFunc // ends the call requested last; may be nil
}

func (d *runner) connect(ctx context.Context, port int, tokens secret.Tokens, mended func()) error {
	if port == 0 {
		return errors.New("the listener does not run")
	}
	phone, err := simulate.Dial(ctx, port, tokens.Socket)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = phone.Close() })
	d.player.phone, d.player.onHubRestored = phone, mended
	close(d.ready)
	return nil
}

func (d *runner) calls(l text.Language) []windowapi.DemoCall {
	var all []windowapi.DemoCall
	for _, s := range scenarios {
		all = append(all, windowapi.DemoCall{ID: s.id, Title: l.T(text.DemoTitle(s.id)), Hint: l.T(text.DemoHint(s.id))})
	}
	return all
}

// play plays one call for the window and returns once the card shows its final content; the
// phone continues to ring for a while.
func (d *runner) play(ctx context.Context, id string, l text.Language) windowapi.PlayResult {
	out := windowapi.PlayResult{ID: id}
	at := slices.IndexFunc(scenarios, func(s scenario) bool { return s.id == id })
	if at < 0 {
		return out
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
		return out
	}
	one, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	if d.stop != nil {
		d.stop()
	}
	d.stop = cancel
	d.mu.Unlock()
	shown := make(chan playResult, 1)
	d.running.Go(func() {
		defer cancel()
		d.playMu.Lock()
		defer d.playMu.Unlock()
		p, err := d.player.play(one, scenarios[at], ringFor, func(p playResult) { shown <- p })
		if err != nil {
			select {
			case shown <- p:
			default:
			}
		}
	})
	select {
	case p := <-shown:
		out.Line = l.T(text.DemoPlayed, msIn(l, p.painted))
		if p.contact > 0 && p.outcome != engine.OutcomeFailed {
			out.Line = l.T(text.DemoPlayedContact, msIn(l, p.painted), msIn(l, p.contact))
		}
	case <-ctx.Done():
	}
	return out
}

// playAll plays every call once and prints a line for each.
func (d *runner) playAll(ctx context.Context, o Options, l text.Language) error {
	fmt.Fprintln(o.Out, l.T(text.DemoWelcome))
	var firsts, answers []time.Duration
	for _, sc := range scenarios {
		fmt.Fprintf(o.Out, "\n%s: %s\n", l.T(text.DemoTitle(sc.id)), l.T(text.DemoHint(sc.id)))
		p, err := d.player.play(ctx, sc, o.Hold, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "  %-18s %-10s painted %s", cmp.Or(p.number, "-"), outcomes[p.outcome], ms(p.painted))
		firsts = append(firsts, p.painted)
		if p.contact > 0 {
			fmt.Fprintf(o.Out, ", contact %s (%s after the hub's answer)", ms(p.contact), ms(p.answer))
			answers = append(answers, p.answer)
		}
		fmt.Fprintln(o.Out)
		if o.Pictures != "" {
			if err := savePicture(o.Pictures, sc.id, p.picture); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(o.Out, "\nEvent to painted number: median %s. Hub's answer to painted contact: median %s.\n", ms(median(firsts)), ms(median(answers)))
	return nil
}

var outcomes = map[engine.Outcome]string{
	engine.OutcomeFound: "found", engine.OutcomeSeveral: "several", engine.OutcomeNobody: "nobody", engine.OutcomeFailed: "failed",
	engine.OutcomeWithheld: "withheld", engine.OutcomeInternal: "internal",
}

func savePicture(dir, id string, picture image.Image) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, id+".png"))
	if err != nil {
		return err
	}
	if err := png.Encode(f, picture); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// msIn formats d in milliseconds for a language: with a comma in Dutch.
func msIn(l text.Language, d time.Duration) string {
	if l == text.Dutch {
		return strings.Replace(ms(d), ".", ",", 1)
	}
	return ms(d)
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[len(all)/2]
}
