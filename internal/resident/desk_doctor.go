package resident

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"wiebelt/internal/configure"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/doctor"
	"wiebelt/internal/health"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance"
	"wiebelt/internal/registrations"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// linkPhases are the phases of links as they are told to the doctor.
var linkPhases = map[health.Phase]string{health.Unwatched: deskapi.LinkUnknown, health.Up: deskapi.LinkUp, health.Down: deskapi.LinkDown,
	health.Kicked: deskapi.LinkKicked, health.Refused: deskapi.LinkRefused, health.Incomplete: deskapi.LinkIncomplete}

// examined is what the doctor's window was told last, and what was gathered for
// a bundle until it is written or dropped. Safe for concurrent use.
type examined struct {
	mu     sync.Mutex
	cfg    doctor.Config
	report *doctor.Report
	bundle []doctor.Entry
}

// answerDoctor tells a window how things are.
func answerDoctor(r *Resident, q ask.Request) {
	switch q.Kind {
	case deskapi.KindDoctorAsk:
		q.Reply(deskapi.KindDoctorFacts, r.doctorFacts(time.Now()))
	case deskapi.KindDoctorRun:
		var m deskapi.DoctorRun
		if q.Decode(&m) {
			r.examine(q, m.Seq)
		}
	case deskapi.KindDoctorBundle:
		q.Reply(deskapi.KindDoctorHolds, r.gather(q.Ctx))
	case deskapi.KindDoctorPeek:
		var m deskapi.DoctorPeek
		if q.Decode(&m) {
			q.Reply(deskapi.KindDoctorPiece, r.examined.piece(m))
		}
	case deskapi.KindDoctorWrite:
		var m deskapi.DoctorWrite
		if q.Decode(&m) {
			q.Reply(deskapi.KindDoctorWritten, r.writeBundle(m.Path))
		}
	case deskapi.KindDoctorDrop:
		r.examined.drop()
	}
}

// doctorConfig is what the doctor looks at, as for the command "wiebelt doctor".
func doctorConfig(o Options, s *settings.Settings, l text.Language) (doctor.Config, error) {
	exe, err := os.Executable()
	if err != nil {
		return doctor.Config{}, err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	reg, err := registrations.Options(o.ProfileDir)
	if err != nil {
		return doctor.Config{}, err
	}
	return doctor.Config{Dirs: o.Dirs, Version: o.Version, Commit: o.Commit, Exe: exe, Register: reg, Language: l, Settings: s, Rules: configure.Rules,
		Hub: func(s *settings.Settings) (hub.Config, error) {
			h, _, err := configure.Hub(o.Dirs, s.Hub, slog.New(slog.DiscardHandler))
			return h, err
		},
		Instance: func() (instance.Config, error) {
			return Instance(o.Dirs, o.Version, o.Commit, slog.New(slog.DiscardHandler))
		},
	}, nil
}

// examine looks at everything and tells of each check as it ends.
func (r *Resident) examine(q ask.Request, seq int) {
	l := r.lang()
	cfg, err := doctorConfig(r.o, nil, l)
	if err != nil {
		q.Reply(deskapi.KindDoctorDone, deskapi.DoctorDone{Seq: seq, Sentence: l.T(text.DoctorWindowFailed)})
		return
	}
	cfg.Settings, cfg.Late = doctor.Load(q.Ctx, func() *settings.Settings { s, _ := settings.Load(r.o.Dirs); return s })
	report := doctor.Stream(q.Ctx, cfg, func(id string, lines []doctor.Check) {
		m := deskapi.DoctorFound{Seq: seq, ID: id}
		for _, c := range lines {
			whom, hint := whomToAsk(c.Hint, l)
			if whom != "" && !strings.Contains(whom, " ") {
				whom = r.helper(whom)
			}
			m.Lines = append(m.Lines, deskapi.DoctorLine{State: string(c.State), Message: c.Message, Hint: hint, Whom: whom})
		}
		q.Reply(deskapi.KindDoctorFound, m)
	})
	if q.Ctx.Err() != nil {
		return
	}
	r.examined.mu.Lock()
	r.examined.cfg, r.examined.report = cfg, &report
	r.examined.mu.Unlock()
	q.Reply(deskapi.KindDoctorDone, deskapi.DoctorDone{Seq: seq, OK: report.OK, Sentence: report.Sentence(l)})
}

// helper names the administrator where the settings do.
func (r *Resident) helper(whom string) string {
	if c := r.set().Support.Contact; c != "" {
		return whom + " (" + c + ")"
	}
	return whom
}

// whomToAsk takes apart what to do and who can do it: hints for others than the
// user begin with them.
func whomToAsk(hint string, l text.Language) (whom, do string) {
	who, rest, ok := strings.Cut(hint, ": ")
	if !ok || !strings.HasPrefix(who, l.T(text.DoctorAdministrator)) {
		return "", hint
	}
	first, size := utf8.DecodeRuneInString(rest)
	return who, strings.ToUpper(string(first)) + rest[size:]
}

// gather makes the bundle of what was told last. Nothing is written.
func (r *Resident) gather(ctx context.Context) deskapi.DoctorHolds {
	l := r.lang()
	r.examined.mu.Lock()
	cfg, report := r.examined.cfg, r.examined.report
	r.examined.mu.Unlock()
	if report == nil {
		return deskapi.DoctorHolds{Error: l.T(text.DoctorWindowFirst)}
	}
	all, err := doctor.Collect(ctx, cfg, *report)
	if err != nil {
		r.o.Log.Warn("the help desk's bundle is not made", "why", err)
		return deskapi.DoctorHolds{Error: l.T(text.DoctorWindowFailed)}
	}
	r.examined.mu.Lock()
	r.examined.bundle = all
	r.examined.mu.Unlock()
	context.AfterFunc(ctx, r.examined.drop) // the window's program has gone
	m := deskapi.DoctorHolds{Path: bundlePath(time.Now())}
	for _, f := range all {
		m.Files = append(m.Files, deskapi.DoctorFile{Name: f.Name, Size: len(f.Data)})
	}
	return m
}

// bundlePath proposes a place that a person finds again.
func bundlePath(now time.Time) string {
	dir, err := os.UserHomeDir()
	if err != nil {
		dir = os.TempDir()
	}
	for _, sub := range []string{"Desktop", "Bureaublad", "Downloads"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err == nil && info.IsDir() {
			dir = filepath.Join(dir, sub)
			break
		}
	}
	return filepath.Join(dir, "wiebelt-"+now.Format("2006-01-02-1504")+".zip")
}

// maxPiece keeps a piece below the size of a message, however it is escaped.
const maxPiece = 9 << 10

// piece is a part of a file of the bundle; one that is not there is empty.
func (e *examined) piece(m deskapi.DoctorPeek) deskapi.DoctorPiece {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := deskapi.DoctorPiece{File: m.File, From: m.From}
	if m.File < 0 || m.File >= len(e.bundle) || m.From < 0 || m.From > len(e.bundle[m.File].Data) {
		return p
	}
	b := e.bundle[m.File].Data[m.From:]
	if len(b) > maxPiece {
		n := maxPiece
		for n > maxPiece-utf8.UTFMax && !utf8.RuneStart(b[n]) {
			n--
		}
		b, p.Next = b[:n], m.From+n
	}
	p.Text = strings.ToValidUTF8(string(b), "?")
	return p
}

func (e *examined) drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bundle = nil
}

// writeBundle writes exactly what was shown.
func (r *Resident) writeBundle(path string) deskapi.DoctorWritten {
	l := r.lang()
	r.examined.mu.Lock()
	all := r.examined.bundle
	r.examined.mu.Unlock()
	m := deskapi.DoctorWritten{Path: path}
	switch {
	case len(all) == 0:
		m.Error = l.T(text.DoctorWindowFirst)
		return m
	case len(path) > 4096 || !filepath.IsAbs(path) || strings.ToLower(filepath.Ext(path)) != ".zip":
		m.Error = l.T(text.DoctorWindowPath)
		return m
	}
	switch err := doctor.Write(path, all); {
	case errors.Is(err, doctor.ErrThere):
		m.Error = l.T(text.DoctorWindowThere)
	case err != nil:
		m.Error = l.T(text.DoctorWindowUnwritten)
	default:
		r.examined.drop()
	}
	return m
}

// doctorFacts is what the doctor cannot see from outside.
func (r *Resident) doctorFacts(now time.Time) deskapi.DoctorFacts {
	known := r.facts.of(r.engine.Snapshot())
	report := health.Assess(known, r.lang(), "", now)
	f := deskapi.DoctorFacts{
		Opened: known.Opened, SetUp: known.SetUp && !known.SecretMissing, Failure: string(known.Lookup.Failure),
		Paused:    known.Paused.After(now),
		Doubt:     report.State == health.Doubt && len(known.Lost) == 0,
		Port:      r.facts.listened(),
		PortTaken: known.PortTaken > 0,
	}
	cards, hotkey, _ := r.shown.get()
	f.Cards, f.Hotkey = string(cards), string(hotkey)
	links := r.set().Softphones
	for _, w := range r.WaysIn() {
		for _, p := range links {
			if w.Kind == p.Kind && w.Name == p.Name {
				f.Links = append(f.Links, deskapi.DoctorLink{Kind: p.Kind, Name: linkName(p), Phase: linkPhases[w.Phase], Why: r.facts.why(linkName(p))})
				break
			}
		}
	}
	return f
}
