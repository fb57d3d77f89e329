package doctor

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode/utf16"

	"wiebelt/internal/health"
)

// scheme tells what opens our links. It names no other program: the path may
// hold a person's name.
func (e *exam) scheme(context.Context) []said {
	s, err := e.sys.register(e.Register)
	switch {
	case err != nil:
		return say(Off, "scheme.failed")
	case s.Scheme == "":
		return say(Off, "scheme.none")
	case !s.Ours:
		return say(Warn, "scheme.other")
	}
	return say(OK, "scheme.ok")
}

func (e *exam) autostart(context.Context) []said {
	s, err := e.sys.register(e.Register)
	switch {
	case err != nil:
		return say(Off, "autostart.unknown")
	case !s.Autostart:
		return say(Off, "autostart.off")
	}
	return say(OK, "autostart.ok")
}

// microSIPKeys are the lines of microsip.ini that report a call; the first is
// the one without which no call is seen.
var microSIPKeys = []string{"cmdCallRing", "cmdCallAnswer", "cmdCallEnd", "cmdCallBusy"}

// microsip reads what MicroSIP starts for a call.
func (e *exam) microsip(context.Context) []said {
	path := e.sys.microSIP()
	if path == "" || !exists(path) {
		return say(Off, "microsip.none")
	}
	b, err := readAtMost(path, 1<<20)
	ini, ok := decodeINI(b)
	if err != nil || !ok {
		return say(Warn, "microsip.unreadable")
	}
	ours := 0
	for i, key := range microSIPKeys {
		program, rings := commandOf(ini[strings.ToLower(key)])
		switch {
		case !rings && i == 0:
			return say(Off, "microsip.off")
		case !rings:
			continue
		}
		if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
			return say(Fail, "microsip.gone")
		}
		ours++
	}
	if ours < len(microSIPKeys) {
		return say(Warn, "microsip.part")
	}
	return say(OK, "microsip.ok")
}

// decodeINI reads the keys of an ini file in UTF-16 or UTF-8, in small letters.
func decodeINI(b []byte) (map[string]string, bool) {
	if bytes.HasPrefix(b, []byte{0xff, 0xfe}) {
		units := make([]uint16, 0, len(b)/2)
		for b = b[2:]; len(b) >= 2; b = b[2:] {
			units = append(units, binary.LittleEndian.Uint16(b))
		}
		b = []byte(string(utf16.Decode(units)))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return nil, false
	}
	keys := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, "="); ok {
			keys[strings.ToLower(strings.TrimSpace(k))] = strings.TrimSpace(v)
		}
	}
	return keys, true
}

// commandOf is the program of a command line and whether it is ours, ringing.
func commandOf(line string) (program string, rings bool) {
	program, rest, _ := strings.Cut(line, " ")
	if quoted, after, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && strings.HasPrefix(line, `"`) {
		program, rest = quoted, after
	}
	base := strings.ToLower(program[strings.LastIndexAny(program, `\/`)+1:])
	return program, strings.HasPrefix(base, "wiebelt") && strings.Contains(" "+rest+" ", " ring ")
}

// tray tells whether a tray host is there.
func (e *exam) tray(ctx context.Context) []said {
	switch {
	case !e.sys.desktop():
		return say(Off, "desk.none")
	case !e.sys.trayHost(ctx):
		return say(Off, "tray.none")
	}
	return say(OK, "tray.ok")
}

// cards tells what calls are shown with, and whether the keyboard can be brought
// there.
func (e *exam) cards(ctx context.Context) []said {
	t := e.ask(ctx)
	if t.presence != present {
		return say(Off, "cards.off")
	}
	switch f := t.facts; {
	case f.Cards == string(health.CardsNotices):
		return say(Warn, "cards.notices")
	case f.Cards != string(health.CardsWindows):
		return say(Warn, "cards.none")
	case f.Hotkey == string(health.HotkeyTaken):
		return say(Warn, "cards.taken")
	case f.Hotkey == string(health.HotkeyUnsupported):
		return say(Warn, "cards.unsupported")
	case f.Hotkey != string(health.HotkeyWorks):
		return say(Warn, "cards.wrong")
	}
	return say(OK, "cards.ok")
}

// lock tells who can say that the screen is locked.
func (e *exam) lock(ctx context.Context) []said {
	if !e.sys.desktop() {
		return say(Off, "desk.none")
	}
	sources := e.sys.lockSources(ctx)
	if len(sources) == 0 {
		return say(Off, "lock.none")
	}
	return say(OK, "lock.ok", strings.Join(sources, ", "))
}

// browser tells whether customer files can be opened.
func (e *exam) browser(ctx context.Context) []said {
	switch {
	case !e.sys.desktop():
		return say(Off, "desk.none")
	case !e.sys.browser(ctx):
		return say(Warn, "browser.none")
	}
	return say(OK, "browser.ok")
}
