package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/native/window"
)

// environment describes program and computer. Versions and commits are kept even if they
// look like numbers; everything else is cleaned.
func environment(ctx context.Context, cfg Config, known *redactor) string {
	var b strings.Builder
	as := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) }
	line := func(name, value string) { as(name, known.clean(value)) }
	as("wiebelt", versionOf(cfg.Version)+" "+versionOf(cfg.Commit))
	t, _ := start(ctx, residentTimeout, (&exam{Config: cfg}).askResident).wait(ctx, residentTimeout+grace)
	running := "none"
	if t.presence >= residentSilent {
		running = versionOf(t.hello.Version) + " " + versionOf(t.hello.Build)
	}
	as("running", running)
	as("go", runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "fyne.io/fyne/v2" {
				as("fyne", versionOf(m.Version))
			}
		}
	}
	line("system", runtime.GOOS+"/"+runtime.GOARCH+" "+safeText(systemName()))
	line("processors", fmt.Sprint(runtime.NumCPU()))
	desktop(ctx, line)
	return b.String()
}

// knownDesktops lists known values of XDG_CURRENT_DESKTOP; the variable may contain anything.
var knownDesktops = strings.Fields(`gnome gnome-classic gnome-flashback ubuntu unity kde xfce mate x-cinnamon cinnamon lxqt lxde budgie
	pantheon deepin enlightenment sway wlroots hyprland i3 openbox awesome cosmic`)

func desktop(ctx context.Context, line func(name, value string)) {
	var names []string
	for _, n := range strings.Split(os.Getenv("XDG_CURRENT_DESKTOP"), ":") {
		switch {
		case slices.Contains(knownDesktops, strings.ToLower(n)):
			names = append(names, n)
		case n != "":
			names = append(names, "another")
		}
	}
	line("desktop", strings.Join(names, " "))
	session := os.Getenv("XDG_SESSION_TYPE")
	if session != "x11" && session != "wayland" && session != "tty" {
		session = "untold"
	}
	line("session", session)
	line("window manager", safeText(windowManager(ctx)))
	if !hasDesktop() {
		line("monitors", "none")
		return
	}
	d, err := window.OpenCards()
	if err != nil {
		line("monitors", "no screen to show cards on")
		return
	}
	defer d.Close()
	for i, m := range d.Monitors() {
		line(fmt.Sprintf("monitor %d", i+1), fmt.Sprintf("%dx%d at %d,%d, %d %%, without panels %dx%d", m.Area.Dx(), m.Area.Dy(),
			m.Area.Min.X, m.Area.Min.Y, int(m.Scale*100+0.5), m.Work.Dx(), m.Work.Dy()))
	}
}

var unsafeChars = lazyregexp.New(`[^A-Za-z0-9 ()._-]+`)

// safeText keeps only the characters that a name from elsewhere needs.
func safeText(s string) string {
	s = strings.TrimSpace(unsafeChars().ReplaceAllString(s, ""))
	if len(s) > 60 {
		s = s[:60]
	}
	if s == "" {
		return "untold"
	}
	return s
}
