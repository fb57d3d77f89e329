package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func dirs(t testing.TB) profile.Dirs {
	t.Helper()
	d := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, d.Make())
	return d
}

func hub(t testing.TB, base, client string) Ref {
	t.Helper()
	r, err := HubRef(base, client)
	if err != nil {
		t.Fatalf("%s: %v", base, err)
	}
	return r
}

// TestRefs checks which addresses are the same and which are not.
func TestRefs(t *testing.T) {
	same := hub(t, "https://hub.example/api", "c")
	for _, base := range []string{"https://HUB.example", "HTTPS://hub.example:443/other/", "https://hub.example:443"} {
		if hub(t, base, "c") != same {
			t.Errorf("%s is another address", base)
		}
	}
	for _, r := range []Ref{
		hub(t, "http://hub.example", "c"), hub(t, "https://hub.example:8443", "c"), hub(t, "https://hub.example.evil", "c"),
		hub(t, "https://hub.example.", "c"), hub(t, "https://hub.example", "C"), hub(t, "https://hub.example", "c d"), KeyRef("c"),
	} {
		if r == same || r.digest() == same.digest() || r.account() == same.account() {
			t.Errorf("%s is the same as %s", r.account(), same.account())
		}
	}
	if hub(t, "http://[::1]:8080", "c").account() != "hub http://[::1]:8080 c" {
		t.Error("IPv6 address")
	}
	for _, c := range [][2]string{
		{"", "c"}, {"hub.example", "c"}, {"ftp://hub.example", "c"}, {"https://", "c"}, {"https:hub.example", "c"}, {"https://u:p@hub.example", "c"},
		{"https://hub.example", ""}, {"https://hub.example", "a\x00b"}, {"https://hub.example", strings.Repeat("x", maxClient+1)}, {"https://a b", "c"},
		{"https://" + strings.Repeat("x", 300), "c"},
	} {
		_, err := HubRef(c[0], c[1])
		if !errors.Is(err, ErrBadRef) {
			t.Errorf("%q %q: %v", c[0], c[1], err)
		}
		if err != nil && c[0] != "" && strings.Contains(err.Error(), c[0]) {
			t.Errorf("the error holds the address: %v", err)
		}
	}
	a, err := SoftphoneRef("ari", "ari", "http://pbx.example:8088/ari")
	b, err2 := SoftphoneRef("ari", "ari", "pbx.example:8088")
	if err != nil || err2 != nil || a == b {
		t.Errorf("%v %v", err, err2)
	}
	if s := fmt.Sprintf("%v %+v %#v", same, same, same); strings.Contains(s, "example") {
		t.Errorf("printed: %s", s)
	}
}

// everyStore tests what every store must do.
func everyStore(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	a, b := hub(t, "https://a.example", "c"), hub(t, "https://b.example", "c")
	long := strings.Repeat("é", MaxLength/2)
	for _, ref := range []Ref{a, b} {
		if v, err := s.Get(ctx, ref); v != "" || !errors.Is(err, ErrNotSet) {
			t.Fatalf("before: %d bytes, %v", len(v), err)
		}
		if err := s.Delete(ctx, ref); err != nil {
			t.Fatalf("deleting nothing: %v", err)
		}
	}
	for _, secret := range []string{"p@ss+/=% ", "second", long} {
		must.Do(t, s.Set(ctx, a, secret))
		if v, err := s.Get(ctx, a); v != secret || err != nil {
			t.Fatalf("got %d bytes, %v; want %d", len(v), err, len(secret))
		}
	}
	for _, other := range []Ref{b, hub(t, "http://a.example", "c"), hub(t, "https://a.example:444", "c"), hub(t, "https://a.example", "d"), KeyRef("c")} {
		if v, err := s.Get(ctx, other); v != "" || !errors.Is(err, ErrNotSet) {
			t.Errorf("another address or client got %d bytes, %v", len(v), err)
		}
	}
	if err := s.Set(ctx, a, long+"x"); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	if err := s.Set(ctx, a, ""); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty: %v", err)
	}
	if v, _ := s.Get(ctx, a); v != long {
		t.Error("a refused secret took the old one away")
	}
	if err := s.Set(ctx, Ref{}, "x"); !errors.Is(err, ErrBadRef) {
		t.Errorf("no address: %v", err)
	}
	must.Do(t, s.Set(ctx, b, "other"))
	must.Do(t, s.Delete(ctx, a))
	if _, err := s.Get(ctx, a); !errors.Is(err, ErrNotSet) {
		t.Errorf("deleted: %v", err)
	}
	if v, err := s.Get(ctx, b); v != "other" || err != nil {
		t.Errorf("the other one went too: %v", err)
	}
	must.Do(t, s.Clear(ctx))
	if _, err := s.Get(ctx, b); !errors.Is(err, ErrNotSet) {
		t.Errorf("cleared: %v", err)
	}
	if err := s.Clear(ctx); err != nil {
		t.Errorf("clearing nothing: %v", err)
	}
}

func TestFileStore(t *testing.T) {
	d := dirs(t)
	s := Open(KindFile, d)
	everyStore(t, s)
	left, _ := filepath.Glob(filepath.Join(d.State, "secrets", "*"))
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFileMoved: the contents of one file are not accepted for another address.
func TestFileMoved(t *testing.T) {
	s := newFileStore(dirs(t))
	a, b := hub(t, "https://a.example", "c"), hub(t, "https://b.example", "c")
	must.Do(t, s.Set(t.Context(), a, "x"))
	must.Do(t, os.Rename(s.path(a), s.path(b)))
	if v, err := s.Get(t.Context(), b); v != "" || !errors.Is(err, ErrNotSet) {
		t.Errorf("%q %v", v, err)
	}
}

func TestFileDamaged(t *testing.T) {
	s := newFileStore(dirs(t))
	a := hub(t, "https://a.example", "c")
	must.Do(t, s.Set(t.Context(), a, "x"))
	for _, b := range []string{"", "{", `{"version":1}`, `{"version":2}`, strings.Repeat(" ", maxFile+1)} {
		must.Do(t, os.WriteFile(s.path(a), []byte(b), 0o600))
		if _, err := s.Get(t.Context(), a); !errors.Is(err, ErrDamaged) {
			t.Errorf("%.10q: %v", b, err)
		}
	}
}

func TestReadSecret(t *testing.T) {
	full := strings.Repeat("x", MaxLength)
	for in, want := range map[string]string{
		"abc": "abc", "abc\n": "abc", "abc\r\n": "abc", "\xef\xbb\xbfabc\r\n": "abc", " a b \n": " a b ",
		"p@ss+/=%é\n": "p@ss+/=%é", full: full, "\xef\xbb\xbf" + full + "\r\n": full,
	} {
		if got, err := ReadSecret(strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%.20q: %.20q, %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		"": ErrEmpty, "\n": ErrEmpty, "\r\n": ErrEmpty, "\xef\xbb\xbf\n": ErrEmpty,
		"\xff\xfea\x00b\x00": ErrEncoding, "a\x00b\x00": ErrEncoding, "a\x00": ErrEncoding, "\xe9": ErrEncoding,
		"a\nb": ErrMultiline, "a\n\n": ErrMultiline, "a\r\nb\r\n": ErrMultiline, "a\r": ErrMultiline, "\n\n": ErrMultiline,
		full + "x": ErrTooLong, full + "x\n": ErrTooLong, strings.Repeat("é", 100_000): ErrTooLong,
	} {
		if got, err := ReadSecret(strings.NewReader(in)); got != "" || !errors.Is(err, want) {
			t.Errorf("%.20q: %d bytes, %v", in, len(got), err)
		}
	}
	if _, err := ReadSecret(io.MultiReader(strings.NewReader("a"), broken{})); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
}

// TestExplain: an error is described by its state, with the cause if that tells too little.
func TestExplain(t *testing.T) {
	late := fmt.Errorf("%w: %w", ErrUnanswered, context.DeadlineExceeded)
	for err, want := range map[error]string{
		ErrDamaged:         text.English.T(text.SecretState("damaged")),
		fs.ErrPermission:   "The secret cannot be read or kept: " + text.English.Error(fs.ErrPermission),
		late:               strings.TrimSuffix(Unanswered.In(text.English), ".") + ": " + text.English.Error(late),
		Explain(ErrLocked): text.English.T(text.SecretState("locked")),
	} {
		if got := Explain(err); text.English.Error(got) != want || !errors.Is(got, err) || StateOf(got) != StateOf(err) {
			t.Errorf("%v: %s, want %s", err, text.English.Error(got), want)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTokens(t *testing.T) {
	d := dirs(t)
	var all sync.Map
	var wait sync.WaitGroup
	for range 20 { // as many programs as start at once
		wait.Go(func() {
			tk, err := EnsureTokens(d)
			if err != nil {
				t.Error(err)
			}
			all.Store(tk, true)
		})
	}
	wait.Wait()
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d different tokens", n)
	}
	if left, _ := filepath.Glob(filepath.Join(d.State, ".tokens*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	tk, err := EnsureTokens(d)
	if err != nil || len(tk.Socket) != 43 || len(tk.Path) != 43 || tk.Socket == tk.Path || strings.Trim(tk.Socket+tk.Path, alphabet) != "" {
		t.Errorf("%d %d %v", len(tk.Socket), len(tk.Path), err)
	}
	if s := fmt.Sprintf("%v %+v %#v", tk, tk, tk); strings.Contains(s, tk.Path) {
		t.Error("printed")
	}
	renewed, err := RenewTokens(d)
	if err != nil || renewed == tk {
		t.Errorf("renewed: %v", err)
	}
	if again, _ := EnsureTokens(d); again != renewed {
		t.Error("not kept")
	}
	for _, b := range []string{"", "{}", `{"version":1,"socket":"a","path":"b"}`, `{"version":1,"socket":"` + tk.Socket + `","path":"` + tk.Socket + `"}`} {
		must.Do(t, os.WriteFile(tokenPath(d), []byte(b), 0o600))
		if got, err := EnsureTokens(d); got != (Tokens{}) || !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", b, err)
		}
		if b2, _ := os.ReadFile(tokenPath(d)); !bytes.Equal(b2, []byte(b)) {
			t.Error("replaced without being asked")
		}
	}
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
