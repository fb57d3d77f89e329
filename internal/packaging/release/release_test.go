//go:build linux

package release

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"aead.dev/minisign"

	"wiebelt/internal/testutil/must"
)

// TestSigned checks that the signature is always the same, and that a key without its password signs nothing.
func TestSigned(t *testing.T) {
	dir := t.TempDir()
	public, secret, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := must.Get(secret.MarshalText())(t)
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, b, 0o600))
		return path
	}
	r, err := New("1.2.3", "abc", "1700000000", dir, filepath.Join(dir, "out"))
	if err != nil || r.Time != time.Unix(1700000000, 0).UTC() {
		t.Fatal(r, err)
	}
	put("out/a.deb", []byte("a"))
	key := Key{File: put("plain", plain)}
	var before []byte
	for range 2 {
		must.Do(t, r.Seal(key))
		list := must.Get(os.ReadFile(r.Package(sums)))(t)
		signature, err := os.ReadFile(r.Package(sums + ".minisig"))
		if err != nil || !minisign.Verify(public, list, signature) {
			t.Errorf("not its signature: %v", err)
		}
		if before != nil && string(before) != string(signature) {
			t.Error("another signature of the same")
		}
		before = signature
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", sums)
	check.Dir = r.Out
	if out, err := check.CombinedOutput(); err != nil || string(out) != "a.deb: OK\n" {
		t.Errorf("%s: %v", out, err)
	}
	locked := append([]byte("untrusted comment: locked\n"), base64.StdEncoding.EncodeToString(append([]byte("EdScB2"), make([]byte, 152)...))...)
	for _, key := range []Key{{put("locked", locked), ""}, {dir + "/none", ""}} {
		if r.Seal(key) == nil {
			t.Errorf("%v signs", key)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, v := range []string{"", "1.2", "1.2.3-rc1", "01.2.3", "v1.2.3", "1.2.3\n"} {
		if _, err := New(v, "abc", "1700000000", "", t.TempDir()); err == nil {
			t.Errorf("%q is one", v)
		}
	}
	if _, err := New("1.2.3", "abc", "", "", t.TempDir()); err == nil {
		t.Error("no time is one")
	}
}
