package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/wazo"
	"wiebelt/internal/testutil/must"
)

type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) Receive(e call.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.State, e.Source.Kind, e.Number, e.Name, e.Reason)))
	return nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.all, "; ")
}

func hear(t *testing.T) (dir string, port int, tokens secret.Tokens, h *heard) {
	t.Helper()
	dir, h = t.TempDir(), &heard{}
	d := must.Get(profile.Find(dir))(t)
	must.Do(t, d.Make())
	tokens = must.Get(secret.EnsureTokens(d))(t)
	l := must.Get(listener.Start(t.Context(), listener.Config{SocketToken: tokens.Socket, PathToken: tokens.Path, HTTP: true, Tries: 1, Receive: h.Receive}))(t)
	t.Cleanup(l.Close)
	must.Do(t, l.Announce(filepath.Join(d.Run, "listener.json")))
	return dir, l.Port(), tokens, h
}

func TestSimulateToTheListener(t *testing.T) {
	dir, port, tokens, h := hear(t)
	file := filepath.Join(t.TempDir(), "story.txt")
	must.Do(t, os.WriteFile(file, []byte("0 ring a number=101 name=Receptie\n1 caller a number=\"06 12345678\"\n+1 end a elsewhere\n"), 0o600))
	bare := t.TempDir() // a profile with nothing running
	for _, tt := range []struct {
		args, in, want string
	}{
		{"--for 1ms 0612345678 --name=Jan", "", "ringing websocket 0612345678 Jan; ended websocket 0612345678 Jan missed"},
		{"--for 1ms --answer 1ms 0612345678", "", "ringing websocket 0612345678; answered websocket 0612345678; ended websocket 0612345678  completed"},
		{"--for 1ms", "", "ringing websocket; ended websocket   missed"},
		{"--for 1ms anonymous", "", "ringing websocket; ended websocket   missed"},
		{"--scenario " + file + " --speed 1000 --over http", "", "ringing http 101 Receptie; ringing http 06 12345678; ended http 06 12345678  elsewhere"},
		{"--scenario - --speed 1000 --repeat 2", "0 ring a number=1\n", "ringing websocket 1; ended websocket 1  missed; ringing websocket 1; ended websocket 1  missed"},
		{"--scenario missed --speed 1000 --port " + fmt.Sprint(port) + " --token-stdin --profile " + bare, tokens.Socket, "ringing websocket +31612345678; ended websocket +31612345678  missed"},
		{"--scenario missed --speed 1000 --over http --port " + fmt.Sprint(port) + " --token-stdin --profile " + bare, tokens.Path, "ringing http +31612345678; ended http +31612345678  missed"},
	} {
		h.mu.Lock()
		h.all = nil
		h.mu.Unlock()
		args := strings.Fields("simulate " + tt.args)
		if !strings.Contains(tt.args, "--profile") {
			args = append(args, "--profile", dir)
		}
		if s := exits(t, 0, tt.in, args...).hides(tokens.Socket, tokens.Path); s.out != "" || h.String() != tt.want {
			t.Errorf("%s: %s\nheard %s\nwant  %s", tt.args, s.out, h, tt.want)
		}
	}
}

// TestSimulateEarly waits for a Wiebelt that is just starting.
func TestSimulateEarly(t *testing.T) {
	dir, _, _, h := hear(t)
	there := filepath.Join(must.Get(profile.Find(dir))(t).Run, listener.AnnouncementName)
	must.Do(t, os.Rename(there, there+".soon"))
	time.AfterFunc(100*time.Millisecond, func() { _ = os.Rename(there+".soon", there) })
	exits(t, 0, "", "simulate", "--for", "1ms", "1", "--profile", dir)
	if got := h.String(); got != "ringing websocket 1; ended websocket 1  missed" {
		t.Errorf("heard %s", got)
	}
}

func TestSimulateWrong(t *testing.T) {
	dir, _, _, h := hear(t)
	file := filepath.Join(t.TempDir(), "story.txt")
	must.Do(t, os.WriteFile(file, []byte("0 ring a number=101\n0 answer b\n"), 0o600))
	for args, want := range map[string]struct {
		code int
		say  string
	}{
		"--over fax":                               {2, "websocket, http"},
		"--scenario nothing":                       {2, "no such scenario"},
		"--scenario " + file:                       {2, "scenario: line 2: no such call is on"},
		"--scenario customer 0612345678":           {2, "flags for one call"},
		"--scenario - --token-stdin --port 1":      {2, "both scenario and token"},
		"--speed 0 1":                              {2, "--speed goes from"},
		"--repeat -1 1":                            {2, "--repeat"},
		"--for 48h 1":                              {2, "a day at most"},
		"--listen 127.0.0.1:0 1":                   {2, "--listen is for"},
		"--port 1 1":                               {2, "go together"},
		"--over ari --port 1 --token-stdin 1":      {2, "go together"},
		"--token-stdin --port 1 1":                 {2, "token: No secret was given"},
		"--over ari --listen 0.0.0.0:0 1":          {1, "loopback"},
		"hello":                                    {2, "not a telephone number"},
		"--profile " + t.TempDir() + " 0612345678": {4, "not running"},
	} {
		all := strings.Fields("simulate " + args)
		if !strings.Contains(args, "--profile") {
			all = append(all, "--profile", dir)
		}
		if s := exits(t, want.code, "", all...).complains(want.say); s.out != "" {
			t.Errorf("%s: %s", args, s.out)
		}
	}
	if got := h.String(); got != "" {
		t.Errorf("heard %s", got)
	}
}

func TestSimulateList(t *testing.T) {
	for language, want := range map[string]string{"nl": "customer            Relatie belt, u neemt op en hangt op\n", "en": "customer            A customer calls, you answer and hang up\n"} {
		s := exits(t, 0, "", "simulate", "--list", "--language", language, "--profile", t.TempDir()).says(want)
		if strings.Count(s.out, "\n") != len(simulate.Builtin()) {
			t.Error(s.out)
		}
	}
}

// TestSimulateServer checks that the first line of output is all a program needs to
// connect, and standard error is what a person puts into the settings.
func TestSimulateServer(t *testing.T) {
	pr, pw := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int)
	dir := t.TempDir()
	go func() {
		defer pw.Close()
		ended <- Main(Build{}, []string{"wiebelt", "simulate", "--scenario", "customer", "--over", "wazo", "--speed", "1000", "--language", "en", "--profile", dir}, strings.NewReader(""), pw, &said)
	}()
	var a simulate.Address
	if err := json.NewDecoder(pr).Decode(&a); err != nil || !a.Ready {
		t.Fatalf("%v: %+v", err, a)
	}
	p, err := wazo.New(exchangelink.Account{Address: a.Address, User: a.User, Extension: a.Extension, Secret: func(context.Context) (string, error) { return a.Secret, nil }})
	must.Do(t, err)
	h := &heard{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := link.RunOnce(ctx, link.Config{Receive: h.Receive}, p); err == nil || ctx.Err() != nil {
		t.Errorf("the phone does not hang up in the end: %v", err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit %d: %s", code, &said)
	}
	if got, want := h.String(), "ringing wazo 0612345678 J.M. van der Berg; "; !strings.HasPrefix(got, want) || !strings.Contains(got, "answered wazo") || !strings.HasSuffix(got, "completed") {
		t.Errorf("heard %s", got)
	}
	for _, want := range []string{"settings.toml", "[[softphone]]\nkind = \"wazo\"\nname = \"simulate-wazo\"\naddress = \"" + a.Address + "\"\nextension = \"" + a.Extension + "\"\nuser = \"simulate\"\n",
		"echo simulate | wiebelt provision --profile \"" + dir + "\" --softphone simulate-wazo --secret-stdin", "Waiting for Wiebelt to connect.", "Playing: A customer calls", "    4.0  answer a\n", "Done."} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in\n%s", want, &said)
		}
	}
	exits(t, 1, "", "simulate", "--scenario", "customer", "--over", "linphone", "--listen", "relative", "--profile", dir)
}
