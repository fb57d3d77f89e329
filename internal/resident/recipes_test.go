package resident

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// TestRecipesForTheWindow: what the windows' process gets when it asks, and only
// then; nothing of it is logged.
func TestRecipesForTheWindow(t *testing.T) {
	dir := t.TempDir()
	d, err := profile.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[listener]\nport = 27480\nhttp = false\n[support]\ncontact = \"Jan (IT)\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, problems := settings.Load(d)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var log bytes.Buffer
	r := &Resident{o: Options{Dirs: d, ProfileDir: dir, Settings: s, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}}
	r.effective.Store(&effective{settings: s, lang: text.Dutch})

	asks := func() (m deskapi.Recipes) {
		r.answerWindow(ask.Request{Ctx: t.Context(), Kind: deskapi.KindRecipe, Reply: func(kind string, msg any) {
			if kind != deskapi.KindRecipes {
				t.Fatalf("answered %q", kind)
			}
			m = msg.(deskapi.Recipes)
		}})
		return m
	}
	tokens, err := secret.Token(d)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := deskapi.Recipes{OK: true, Exe: exe, ExeW: exe, Profile: dir, Settings: filepath.Join(dir, "settings.toml"), Port: 27480,
		PathToken: tokens.Path, SocketToken: tokens.Socket, Enabled: true, Support: "Jan (IT)"}
	if got := asks(); got != want {
		t.Error("another answer than the settings and tokens give") // printing it would show tokens
	}
	r.facts.listens(27483) // the listener found another port free
	if got := asks(); got.Port != 27483 || got.Taken {
		t.Errorf("port %d, taken %v", got.Port, got.Taken)
	}
	r.facts.listens(-27480)
	if got := asks(); got.Port != 27480 || !got.Taken {
		t.Errorf("port %d, taken %v", got.Port, got.Taken)
	}
	if err := os.WriteFile(filepath.Join(d.State, "tokens.json"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asks(); got.OK || got.PathToken != "" || got.Support != "Jan (IT)" {
		t.Error("unreadable tokens are not said")
	}
	if s := log.String(); strings.Contains(s, tokens.Path) || strings.Contains(s, tokens.Socket) || !strings.Contains(s, "tokens") {
		t.Errorf("logged: %s", strings.NewReplacer(tokens.Path, "TOKEN", tokens.Socket, "TOKEN").Replace(s))
	}
	if w, err := json.Marshal(r.recipes()); err != nil || !bytes.Contains(w, []byte(`"ok":false`)) {
		t.Errorf("%s %v", w, err)
	}
}
