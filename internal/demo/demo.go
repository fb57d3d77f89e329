package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/resident"
	"wiebelt/internal/simulate"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// Options is how the demo is run.
type Options struct {
	Play            bool   // play every call once and end
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
	contacts     = 3000
	ringFor      = 25 * time.Second // a call of the demo's window
)

// Run runs the demo until ctx ends, the user quits, or, with Play, every call
// was played. It must be called on the main goroutine. With Play, an error says
// that a card was not painted.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir := o.ProfileDir
	if dir == "" {
		tmp, err := os.MkdirTemp("", "wiebelt-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
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
	s.Lines = []settings.Line{{Number: line, Name: "Schade"}}
	s.Support.Contact = "Jan (IT), toestel 140"
	if o.Language != "" {
		s.UI.Language = string(o.Language)
	}
	if o.Theme != "" {
		s.UI.Theme = o.Theme
	}
	painted := make(chan card.Painted, 64)
	d := &show{hub: h, painted: painted, ready: make(chan struct{})}
	defer d.work.Wait() // before the hub goes
	var failed error
	err = resident.Run(ctx, resident.Options{
		Dirs: dirs, ProfileDir: dir, Exe: o.Exe, Settings: s, Version: o.Version, Commit: o.Commit, Log: o.Log, AnyPort: true,
		Hub:  &resident.HubOverride{BaseURL: h.BaseURL(), HubURL: h.HubURL(), ClientID: clientID, OrganisationCode: organisation, Secret: clientSecret},
		Demo: d, DemoWindow: !o.Play,
		Painted: func(p card.Painted) {
			select {
			case painted <- p:
			default: // nobody plays anything
			}
		},
		Ready: func(ctx context.Context, port int, tokens secret.Tokens, mended func()) {
			if failed = d.begin(ctx, port, tokens, mended); failed == nil && o.Play {
				failed = d.playAll(ctx, o, fromsettings.Language(s))
			}
			if failed != nil || o.Play {
				cancel()
			}
		},
	})
	return errors.Join(failed, err)
}

// startHub makes the local hub with the people whom the demo's calls are about.
func startHub(ctx context.Context, log *slog.Logger) (*localhub.Hub, string, error) {
	h, err := localhub.Start(ctx, localhub.Config{Synthetic: contacts, Demo: true, Log: log})
	if err != nil {
		return nil, "", err
	}
	clientSecret, err := h.AddClient(ctx, clientID, organisation)
	if err == nil {
		_, err = h.AddInvented(ctx, invented...)
	}
	if err != nil {
		return nil, "", errors.Join(err, h.Close())
	}
	return h, clientSecret, nil
}

// invented are the people behind the demo's calls that the local hub's own
// sample numbers do not serve.
var invented = []localhub.Record{
	person("A.", "", "Aardenburg", "200310", "Kade", "12", "A", "0698760001"),
	person("F.", "el", "Idrissi", "200311", "Laan", "4", "", "0698760002"),
	person("S.", "van", "Loon", "200312", "Markt", "7", "", "0698760003"),
}

func person(initials, prefix, family, relation, street, house, addition, number string) localhub.Record {
	return localhub.Record{Numbers: []string{number}, Contact: contact.Contact{
		RelationNumber: relation, Initials: initials, Prefix: prefix, FamilyName: family,
		Address:  contact.Address{Street: street, Number: house, Addition: addition, PostalCode: "1234 AB", City: "Ons Dorp"},
		Producer: contact.Coded{Code: "P1", Description: "Producent Een"}, LastModifiedBy: contact.Coded{Code: "M1", Description: "Medewerker"}}}
}

// show is the demo as the window sees it.
type show struct {
	hub     *localhub.Hub
	painted <-chan card.Painted
	ready   chan struct{}
	stage   *Stage
	turn    sync.Mutex
	work    sync.WaitGroup // calls that the window asked for
}

// begin connects the simulated softphone.
func (d *show) begin(ctx context.Context, port int, tokens secret.Tokens, mended func()) error {
	if port == 0 {
		return errors.New("the listener does not run")
	}
	phone, err := simulate.Dial(ctx, port, tokens.Socket)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = phone.Close() })
	one, err := d.hub.Sample(ctx, localhub.OnePerson)
	if err != nil {
		return err
	}
	family, err := d.hub.Sample(ctx, localhub.Family)
	if err != nil {
		return err
	}
	nobody, err := d.hub.Sample(ctx, localhub.Nobody)
	if err != nil {
		return err
	}
	d.stage = NewStage(d.hub, phone, People{One: one.Number, Family: family.Number, Nobody: nobody.Number,
		Other: "0698760001", Third: "0698760002", Fourth: "0698760003"}, d.painted, mended)
	close(d.ready)
	return nil
}

// Calls are the buttons of the demo's window.
func (d *show) Calls(l text.Language) []windowapi.DemoCall {
	var all []windowapi.DemoCall
	for _, s := range Scenarios {
		all = append(all, windowapi.DemoCall{ID: s.ID, Title: l.T(text.DemoTitle(s.ID)), Hint: l.T(text.DemoHint(s.ID))})
	}
	return all
}

// Play plays one call for the window and returns once the card shows what it is
// about; the phone goes on ringing for a while.
func (d *show) Play(ctx context.Context, id string, l text.Language) windowapi.Played {
	out := windowapi.Played{ID: id}
	sc, ok := Find(id)
	if !ok {
		return out
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
		return out
	}
	shown := make(chan Played, 1)
	d.work.Go(func() {
		d.stage.Stop()
		d.turn.Lock()
		defer d.turn.Unlock()
		p, err := d.stage.Play(ctx, sc, ringFor, func(p Played) { shown <- p })
		if err != nil {
			select {
			case shown <- p:
			default:
			}
		}
	})
	select {
	case p := <-shown:
		out.Painted, out.Contact = p.Painted, p.Contact
		out.Line = l.T(text.DemoPlayed, msIn(l, p.Painted))
		if p.Contact > 0 && p.Outcome != engine.Failed {
			out.Line = l.T(text.DemoPlayedContact, msIn(l, p.Painted), msIn(l, p.Contact))
		}
	case <-ctx.Done():
	}
	return out
}

// playAll plays every call once with a line each.
func (d *show) playAll(ctx context.Context, o Options, l text.Language) error {
	fmt.Fprintln(o.Out, l.T(text.DemoWelcome))
	var firsts, answers []time.Duration
	for _, sc := range Scenarios {
		fmt.Fprintf(o.Out, "\n%s: %s\n", l.T(text.DemoTitle(sc.ID)), l.T(text.DemoHint(sc.ID)))
		p, err := d.stage.Play(ctx, sc, o.Hold, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "  %-18s %-10s painted %s", cmp.Or(p.Number, "-"), outcomes[p.Outcome], ms(p.Painted))
		firsts = append(firsts, p.Painted)
		if p.Contact > 0 {
			fmt.Fprintf(o.Out, ", contact %s (%s after the hub's answer)", ms(p.Contact), ms(p.Answer))
			answers = append(answers, p.Answer)
		}
		fmt.Fprintln(o.Out)
		if o.Pictures != "" {
			if err := keep(o.Pictures, sc.ID, p); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(o.Out, "\nEvent to painted number: median %s. Hub's answer to painted contact: median %s.\n", ms(median(firsts)), ms(median(answers)))
	return nil
}

var outcomes = map[engine.Outcome]string{
	engine.Found: "found", engine.Several: "several", engine.Nobody: "nobody", engine.Failed: "failed",
	engine.Withheld: "withheld", engine.Internal: "internal",
}

func keep(dir, id string, p Played) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, id+".png"))
	if err != nil {
		return err
	}
	if err := png.Encode(f, p.Picture); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// msIn is ms as a language writes it: a comma in Dutch.
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
