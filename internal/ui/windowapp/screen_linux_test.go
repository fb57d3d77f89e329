package windowapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/xtest"
)

const deskEnv = "WIEBELT_DESK_TEST_IS_DESK"

// build is what the resident and the windows of these tests are built from.
const build = "t"

// TestMain also is the process with the windows: its arguments are the folder of
// the resident and the window to open.
func TestMain(m *testing.M) {
	if os.Getenv(deskEnv) == "" {
		os.Exit(m.Run())
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	dirs, err := profile.Find(filepath.Dir(os.Args[1]))
	if err != nil {
		log.Error("no profile", "why", err)
		os.Exit(1)
	}
	err = Run(context.Background(), Config{Window: os.Args[2], Dirs: dirs, Log: log, Connect: func(ctx context.Context) (Conn, error) {
		c, _, err := instance.Connect(ctx, instance.Config{RunDir: os.Args[1], Version: build, Build: build, Log: log}, instance.RoleDesk)
		return c, err
	}})
	if err != nil {
		log.Error("no windows", "why", err)
		os.Exit(1)
	}
}

type line struct {
	Kind string
	Msg  json.RawMessage
}

// screen is an X server of its own with a window manager.
type screen struct {
	*xtest.Server
	t *testing.T
}

func newScreen(t *testing.T, arguments ...string) *screen {
	t.Helper()
	return &screen{t: t, Server: xtest.Start(t, "openbox", xtest.Options{Width: 1280, Height: 900, Arguments: arguments,
		Env: []string{"LANG=nl_NL.UTF-8"}})}
}

func (s *screen) xdotool(args ...string) {
	s.t.Helper()
	s.Run("xdotool", args...)
}

// click clicks at a place in a window, the pointer having moved there first.
func (s *screen) click(window string, x, y int) {
	s.t.Helper()
	s.move(window, x, y)
	s.xdotool("click", "1")
}

func (s *screen) move(window string, x, y int) {
	s.t.Helper()
	s.xdotool("mousemove", "--window", window, strconv.Itoa(x-1), strconv.Itoa(y),
		"mousemove", "--window", window, strconv.Itoa(x), strconv.Itoa(y))
}

func (s *screen) window(title string) string {
	s.t.Helper()
	return s.FindWindow("^" + title + " ")
}

// shot takes a picture of a window; with WIEBELT_SHOTS=DIR it also keeps it.
func (s *screen) shot(window, name string) image.Image {
	s.t.Helper()
	b, err := s.Command("import", "-silent", "-window", window, "png:-").Output()
	if err != nil {
		s.t.Fatalf("import: %v", err)
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	return img
}

// count tells how many pixels of a picture have a colour.
func count(img image.Image, rgb uint32) int {
	n := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			if r>>8<<16|g>>8<<8|b>>8 == rgb {
				n++
			}
		}
	}
	return n
}

// until asks again and again, because a window manager and a painter take the
// time that they take.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// resident is what the windows' process talks to, over the real connection.
type resident struct {
	t       *testing.T
	dirs    profile.Dirs
	welcome windowapi.Welcome
	met     chan struct{} // closed when conn is there
	conn    *instance.Conn
	got     chan line // closed when the connection ended
	desk    *exec.Cmd
	done    chan error
	err     *bytes.Buffer
}

// Ring implements instance.Handler.
func (r *resident) Ring(call.Event) error { return errors.New("not this one") }

// Peer implements instance.Handler.
func (r *resident) Peer(_ context.Context, hello instance.Hello, c *instance.Conn) {
	defer close(r.got)
	if hello.Role != instance.RoleDesk {
		r.t.Errorf("it came as %q", hello.Role)
	}
	if kind, _, err := c.Receive(); kind != windowapi.KindShow {
		r.t.Errorf("it began with %q, %v", kind, err)
	}
	if err := c.Send(windowapi.KindWelcome, r.welcome); err != nil {
		r.t.Error(err)
	}
	r.conn = c
	close(r.met)
	for {
		kind, raw, err := c.Receive()
		if err != nil {
			return
		}
		r.got <- line{kind, raw}
	}
}

// startDesk starts the process with the windows and the resident that it talks to.
func startDesk(t *testing.T, s *screen, w windowapi.Welcome) *resident {
	t.Helper()
	dir := t.TempDir()
	dirs, err := profile.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	one, err := instance.Acquire(instance.Config{RunDir: dirs.Run, Version: build, Build: build})
	if err != nil {
		t.Fatal(err)
	}
	r := &resident{t: t, dirs: dirs, welcome: w, met: make(chan struct{}), got: make(chan line, 64), done: make(chan error, 1), err: &bytes.Buffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- one.Serve(ctx, r) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		one.Close()
	})
	r.desk = exec.Command(os.Args[0], dirs.Run, w.Window)
	r.desk.Env = append(s.Env(), deskEnv+"=1")
	r.desk.Stderr = r.err
	if err := r.desk.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- r.desk.Wait() }()
	t.Cleanup(func() { _ = r.desk.Process.Kill() }) // it may have gone already
	select {
	case <-r.met:
	case <-time.After(20 * time.Second):
		t.Fatalf("it did not come: %s", r.err)
	}
	return r
}

func (r *resident) send(kind string, m any) {
	r.t.Helper()
	if err := r.conn.Send(kind, m); err != nil {
		r.t.Fatal(err)
	}
}

// wait waits for a message and reads it into m, if that is not nil.
func (r *resident) wait(kind string, m any) {
	r.t.Helper()
	select {
	case l, ok := <-r.got:
		if !ok {
			r.t.Fatalf("the windows' process went instead of saying %q: %s", kind, r.err)
		}
		if l.Kind != kind {
			r.t.Fatalf("got %q %s, want %q", l.Kind, l.Msg, kind)
		}
		if m == nil {
			return
		}
		if err := json.Unmarshal(l.Msg, m); err != nil {
			r.t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		r.t.Fatalf("no %q came: %s", kind, r.err)
	}
}

func (r *resident) ended(wantCode int) {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(20 * time.Second):
		r.t.Fatal("the windows' process did not end")
	}
	if code := r.desk.ProcessState.ExitCode(); code != wantCode {
		r.t.Errorf("exit code %d, want %d: %s", code, wantCode, r.err)
	}
	if strings.Contains(r.err.String(), "Error in Fyne call thread") {
		r.t.Errorf("Fyne was called on a wrong thread:\n%s", r.err)
	}
}

func welcome(lang, theme, window, history string) windowapi.Welcome {
	w := windowapi.Welcome{Language: lang, Theme: theme, Window: window, History: history,
		Status: windowapi.Status{OK: true, Sentence: "Klaar voor oproepen"}, FileWord: "relatie"}
	if lang == "en" {
		w.Status.Sentence = "Ready for calls"
	}
	for _, c := range [][4]string{
		{"Bekende klant", "Eerst het nummer, een oogwenk later de naam. Klik op Relatie openen.", "Known customer", "First the number, a moment later the name. Click Open contact."},
		{"Gezin op één nummer", "Drie relaties delen dit nummer: alle drie staan erop, geen is vooraf gekozen.", "Family on one number", "Three contacts share this number: all are listed, none is chosen for you."},
		{"Onbekend nummer", "De kaart zegt dat de administratie dit nummer niet kent, en toont de naam uit het telefoonsysteem.", "Unknown number", "The card says that nobody has this number, and shows the name of the phone system."},
		{"Afgeschermd nummer", "Er is niets om op te zoeken, en de kaart zegt waarom.", "Withheld number", "There is nothing to look up, and the card says why."},
		{"Collega", "Een toestel van kantoor: wel een kaart, geen zoekopdracht.", "Colleague", "An extension of the office: a card, but no lookup."},
		{"Doorverbonden", "De receptie verbindt door: de beller wisselt, de kaart wisselt mee.", "Passed on", "Reception passes the call on: the caller changes, and so does the card."},
		{"Hub is traag", "Het nummer staat er meteen; de naam komt pas na vier seconden.", "Hub is slow", "The number is there at once; the name takes four seconds."},
		{"Hub is weg", "De kaart zegt wat er mis is en blijft het proberen.", "Hub is gone", "The card says what is wrong and keeps trying."},
		{"Koppeling geweigerd", "De hub weigert de gegevens van de koppeling: dat is iets voor de beheerder.", "Credentials refused", "The hub refuses the credentials: that is something for the administrator."},
	} {
		d := windowapi.DemoCall{ID: fmt.Sprintf("call-%d", len(w.Demo)), Title: c[0], Hint: c[1]}
		if lang == "en" {
			d.Title, d.Hint = c[2], c[3]
		}
		w.Demo = append(w.Demo, d)
	}
	return w
}

// fill writes a morning of calls.
func fill(t *testing.T, path string) {
	t.Helper()
	store, err := history.Open(path, history.KeepFull, 7, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := time.Now()
	y, m, d := now.Date()
	yesterday := time.Date(y, m, d-1, 16, 12, 0, 0, now.Location())
	for i, e := range []history.Entry{
		{Rang: yesterday.Add(-26 * time.Hour), Name: "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", Number: "+31612345680", Shown: "06 12 34 56 80", Outcome: history.OutcomeFound, Link: "x", Matches: 1, Result: history.ResultAnswered, Answered: yesterday, Ended: yesterday.Add(65 * time.Minute)},
		{Rang: yesterday, Name: "P. Jansen", Number: "+31201234568", Shown: "020 123 45 68", Outcome: history.OutcomeFound, Link: "x", Matches: 1, Result: history.ResultElsewhere, Line: "Leven"},
		{Outcome: history.OutcomeWithheld, Result: history.ResultNotHere, Line: "Schade"},
		{Number: "+31698765432", Shown: "06 98 76 54 32", Outcome: history.OutcomeNobody, Result: history.ResultMissed, Line: "Schade"},
		{Number: "101", Shown: "Toestel 101", Name: "Receptie", Outcome: history.OutcomeInternal, Result: history.ResultAnswered, Answered: now, Ended: now.Add(41 * time.Second)},
		{Number: "+31209876543", Shown: "020 987 65 43", Outcome: history.OutcomeSeveral, Matches: 3, Result: history.ResultUnknown, LineNumber: "020 123 45 67"},
		{Number: "+31475123456", Shown: "0475 12 34 56", Outgoing: true, Name: "Schadeherstel Roermond", Outcome: history.OutcomeFound, Link: "x", Matches: 1, Result: history.ResultAnswered, Answered: now, Ended: now.Add(95 * time.Second)},
		{Number: "+31612345678", Shown: "06 12 34 56 78", Name: "J. de Vries", RelationNumber: "100200", Outcome: history.OutcomeFound, Link: "x", Matches: 1, Result: history.ResultAnswered, Answered: now, Ended: now.Add(134 * time.Second), Line: "Schade"},
	} {
		if e.Rang.IsZero() {
			e.Rang = now.Add(time.Duration(i-8) * time.Millisecond)
		}
		if _, err := store.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}
