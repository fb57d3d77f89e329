package winetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

func TestRun(t *testing.T) {
	p := winetest.New(t)
	// A Go program runs at all: the missing library is in place.
	dir := t.TempDir()
	src := "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(\"hello\", os.Args[1]); os.Exit(3) }\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o600))
	exe := winetest.Build(t, filepath.Join(dir, "main.go"))
	out, code := p.Run(exe, "wine & co")
	if strings.TrimSpace(out) != "hello wine & co" || code != 3 {
		t.Errorf("%q, code %d", out, code)
	}
	// The registry of this prefix is its own.
	if _, code := p.Run("reg", "add", `HKCU\Software\WiebeltTest`, "/v", "x", "/d", "1", "/f"); code != 0 {
		t.Fatalf("reg add: code %d", code)
	}
	if _, code := winetest.New(t).Run("reg", "query", `HKCU\Software\WiebeltTest`); code == 0 {
		t.Error("another prefix sees it")
	}
}
