package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// --check-gl tells by its exit code whether a window can be made, quickly, and
// shows none.
func TestCheckGL(t *testing.T) {
	for _, tt := range []struct {
		name string
		xvfb []string
		code int
		says string
	}{
		{"with", nil, 0, ""},
		{"without", []string{"-extension", "GLX"}, noGL, "wiebelt-desk: no window could be opened: this computer offers no usable OpenGL ("},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t, tt.xvfb...)
			if code, said, took := askGL(t, s.Display); code != tt.code || !strings.Contains(said, tt.says) || strings.Contains(said, "wiebelt-desk:") != (tt.says != "") {
				t.Errorf("exit %d: %q", code, said)
			} else {
				t.Logf("exit %d after %v: %s", code, took.Round(time.Millisecond), strings.TrimSpace(said))
			}
		})
	}
	t.Run("no screen", func(t *testing.T) {
		if code, said, took := askGL(t, ""); code != noGL || !strings.Contains(said, "no usable OpenGL") {
			t.Errorf("exit %d after %v: %q", code, took, said)
		}
	})
}

func askGL(t *testing.T, display string) (code int, said string, took time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--check-gl")
	cmd.Env = []string{deskEnv + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if display != "" {
		cmd.Env = append(cmd.Env, "DISPLAY="+display)
	}
	var b bytes.Buffer
	cmd.Stderr = &b
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String(), time.Since(began)
}
