package xtest

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
	"wiebelt/internal/testutil/must"
)

var black = color.RGBA{A: 255} // an empty screen, and a terminal's background

// Compositors lists the Wayland compositors that Compositor starts.
var Compositors = []string{"sway", "weston", "mutter"}

// Compositor starts a Wayland compositor on the server's screen, with or without its own X
// server (XWayland), and returns when it accepts programs. From then on, programs are
// started and windows are looked for inside it, while pointer, keys and pictures remain
// those of the screen. The server needs a bus first.
func (s *Server) Compositor(name string, xwayland bool) {
	s.t.Helper()
	told := filepath.Join(s.Dir, "told")
	tell := filepath.Join(s.Dir, "tell")
	then := "" // mutter ends with the first program that it starts, so that must not end before it
	if name == "mutter" {
		then = "exec tail --pid=$PPID -f /dev/null\n"
	}
	s.write(tell, "#!/bin/sh\nenv >"+told+".new && mv "+told+".new "+told+"\n"+then, 0o700)
	command, env := s.compositor(name, tell, xwayland)
	cmd := s.Command(command[0], command[1:]...)
	cmd.Env = append(cmd.Env, env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = time.Second // its children may keep the output open
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.t.Cleanup(func() {
		end(cmd)
		if s.t.Failed() {
			s.t.Logf("%s said:\n%s", name, log.Bytes())
		}
	})
	s.Until(name+" takes programs", func() bool { _, err := os.Stat(told); return err == nil })
	s.Until(name+" has painted its screen", func() bool { return s.Pixel(s.Size().X/2, s.Size().Y/2) != black })
	b := must.Get(os.ReadFile(told))(s.t)
	s.around = s.Env()
	// weston counts pointer movements from where it assumes the
	// pointer to be; in the corner both agree.
	s.Move(0, 0)
	if s.env = inside(s.around, strings.Split(string(b), "\n"), xwayland); !xwayland {
		return
	}
	var display string
	for _, e := range s.env {
		if d, ok := strings.CutPrefix(e, "DISPLAY="); ok {
			display = d
		}
	}
	s.Run("xhost", "+local:") // mutter's X server admits only clients that know its secret
	// A later connection of the tested code must not register this server's extensions meanwhile.
	s.windows = must.Get(xconn.OpenDisplay(s.t.Context(), display))(s.t)
	s.t.Cleanup(s.windows.Close)
	s.desk = xproto.Setup(s.windows).DefaultScreen(s.windows).Root
}

func (s *Server) write(path, text string, mode os.FileMode) {
	s.t.Helper()
	must.Do(s.t, os.WriteFile(path, []byte(text), mode))
}

// inside returns the environment of programs in a compositor, based on
// what the compositor reported about its own.
func inside(around, told []string, xwayland bool) (env []string) {
	of := []string{"WAYLAND_DISPLAY="}
	if xwayland {
		of = append(of, "DISPLAY=", "XAUTHORITY=")
	}
	for _, e := range around {
		if !strings.HasPrefix(e, "DISPLAY=") {
			env = append(env, e)
		}
	}
	for _, e := range told {
		for _, name := range of {
			if strings.HasPrefix(e, name) {
				env = append(env, e)
			}
		}
	}
	return append(env, "XDG_SESSION_TYPE=wayland")
}

// compositor returns the command of a compositor that starts one program, and its
// environment. All use software rendering, since there is nothing else. Keys do not repeat,
// since on a busy machine one may be held for long.
func (s *Server) compositor(name, first string, xwayland bool) (command, env []string) {
	size := s.Size()
	config := filepath.Join(s.Dir, name+".conf")
	switch name {
	case "sway":
		x := "disable"
		if xwayland {
			x = "force"
		}
		s.write(config, fmt.Sprintf("output X11-1 mode %dx%d position 0 0 bg #204060 solid_color\nxwayland %s\ndefault_border none\ninput * repeat_rate 0\nexec %s\n", size.X, size.Y, x, first), 0o600)
		command = []string{"sway", "-c", config}
		if os.Getuid() == 0 { // sway refuses to start where it could become root
			command = append([]string{"unshare", "--user", "--map-user=1000", "--map-group=1000"}, command...)
		}
		return command, []string{"WLR_BACKENDS=x11", "WLR_RENDERER=pixman"}
	case "weston":
		s.write(config, fmt.Sprintf("[core]\nxwayland=%v\nidle-time=0\n[shell]\nlocking=false\nanimation=none\nstartup-animation=none\nclose-animation=none\n"+
			"background-color=0xff204060\nbackground-type=tile\n[keyboard]\nrepeat-rate=0\n[autolaunch]\npath=%s\n", xwayland, first), 0o600)
		return []string{"weston", "--backend=x11-backend.so", "--use-pixman", "--config=" + config, "--socket=wayland-1",
			fmt.Sprintf("--width=%d", size.X), fmt.Sprintf("--height=%d", size.Y)}, nil
	case "mutter":
		settings := filepath.Join(s.Dir, "config", "glib-2.0", "settings")
		must.Do(s.t, os.MkdirAll(settings, 0o700))
		s.write(filepath.Join(settings, "keyfile"), "[org/gnome/desktop/peripherals/keyboard]\nrepeat=false\n", 0o600)
		command = []string{"mutter", "--nested", "--wayland"}
		if !xwayland {
			command = append(command, "--no-x11")
		}
		return append(command, "--", first), []string{"LIBGL_ALWAYS_SOFTWARE=1", "GSETTINGS_BACKEND=keyfile",
			fmt.Sprintf("MUTTER_DEBUG_DUMMY_MODE_SPECS=%dx%d", size.X, size.Y)}
	}
	s.t.Fatalf("xtest: no compositor %q", name)
	return nil, nil
}

// WaylandTerminal opens a terminal without X over the whole screen, and returns when it has
// the focus and accepts keys. how is "--maximized" or "--fullscreen".
func (s *Server) WaylandTerminal(how string) *Terminal {
	s.t.Helper()
	term := &Terminal{s: s, file: filepath.Join(s.Dir, "keys"+how)}
	top := 100 // below title and panel, if any
	if how == "--fullscreen" {
		top = 3
	}
	shell := filepath.Join(s.Dir, "shell"+how)
	s.write(shell, "#!/bin/sh\nstty raw -echo && : >"+term.file+".ready && exec cat >"+term.file+"\n", 0o700)
	term.cmd = s.Spawn("weston-terminal", how, "--shell="+shell)
	s.Until("terminal ready", func() bool {
		_, err := os.Stat(term.file + ".ready")
		return err == nil && s.Pixel(s.Size().X/2, top) == black
	})
	s.Click(300, 300, 1)
	return term
}
