package phonefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

func wide(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func kept(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "phone.ini")
	must.Do(t, os.WriteFile(path, b, 0o640))
	return path
}

const ini = "[Account1]\r\nlabel=Zoë\r\ncmdCallRing=not this one\r\n\r\n[Settings]\r\ncmdCallEnd=\"C:\\old\\x.exe\"\r\nvolumeOutput=100\r\n\r\n[Calls]\r\n0=x\r\n"

// TestMicroSIPsFileStaysItsOwn: only the requested keys change, in their section; encoding,
// line ends and everything else stay.
func TestMicroSIPsFileStaysItsOwn(t *testing.T) {
	for name, encode := range map[string]func(string) []byte{
		"utf-16": wide, "utf-8": func(s string) []byte { return []byte(s) }, "utf-8 with mark": func(s string) []byte { return []byte("\ufeff" + s) },
	} {
		path := kept(t, encode(ini))
		f, err := Read(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := f.Get("Settings", "CMDcallend"); got != `"C:\old\x.exe"` {
			t.Errorf("%s: %q", name, got)
		}
		if got := f.Get("account1", "label"); got != "Zoë" {
			t.Errorf("%s: %q in the first group", name, got)
		}
		if got := f.Get("settings", "cmdCallRing"); got != "" {
			t.Errorf("%s: taken from another group: %q", name, got)
		}
		must.Do(t, f.Set("Settings", Pairs("cmdCallRing=\"C:\\W b\\wiebeltw.exe\" ring --\ncmdCallEnd=y\n")...))
		must.Do(t, f.Write())
		want := strings.Replace(ini, "[Settings]\r\ncmdCallEnd=\"C:\\old\\x.exe\"", "[Settings]\r\ncmdCallRing=\"C:\\W b\\wiebeltw.exe\" ring --\r\ncmdCallEnd=y", 1)
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, encode(want)) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, encode(want))
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestTwinklesProfile: a profile has no groups, and its last line may
// lack a line end; if it is reached through a link, the link stays.
func TestTwinklesProfile(t *testing.T) {
	for _, end := range []string{"\n", ""} {
		path := kept(t, []byte("# USER\nuser_name=101\nscript_incoming_call="+end))
		link := path + ".link"
		must.Do(t, os.Symlink(path, link))
		f := must.Get(Read(link))(t)
		must.Do(t, f.Set("", Pair{"script_incoming_call", "/opt/wiebelt ring --twinkle"}, Pair{"script_remote_release", "x"}))
		must.Do(t, f.Write())
		if b, _ := os.ReadFile(path); string(b) != "# USER\nuser_name=101\nscript_incoming_call=/opt/wiebelt ring --twinkle\nscript_remote_release=x\n" {
			t.Errorf("%q", b)
		}
	}
}

// TestStrangeFilesAreLeftAlone: a file that could not be written back unchanged is not
// read, and no value adds a second line.
func TestStrangeFilesAreLeftAlone(t *testing.T) {
	for name, b := range map[string][]byte{
		"odd length": append(wide("a=b"), 1), "half a pair": {0xff, 0xfe, 0x00, 0xd8}, "zero": []byte("a=\x00"), "latin-1": []byte("a=Zo\xeb"),
	} {
		if _, err := Read(kept(t, b)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := must.Get(Read(kept(t, []byte("a=b\n"))))(t)
	if err := f.Set("", Pair{"a", "b\nc=d"}); !errors.Is(err, ErrFormat) {
		t.Errorf("two lines: %v", err)
	}
	if err := f.Set("Settings", Pair{"x", "y"}); !errors.Is(err, ErrFormat) {
		t.Errorf("no such group: %v", err)
	}
	if _, err := Read(kept(t, bytes.Repeat([]byte("a=b\n"), 1<<19))); !errors.Is(err, filetrust.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestOurs(t *testing.T) {
	for line, want := range map[string]bool{
		`"C:\Program Files\Wiebelt\wiebeltw.exe" ring --state ringing --`: true,
		`/opt/wiebelt/wiebelt ring --twinkle`:                             true,
		`wiebelt-ring --twinkle`:                                          true,
		` wiebelt-ring "x"`:                                               true,
		`"C:\Wiebelt\wiebelt-ringw.exe" --state ringing --`:               true,
		`/opt/other/wiebelt-ringer --twinkle`:                             false,
		`"C:\Program Files\Other\pop.exe" ring`:                           false,
		`"C:\Wiebelt\wiebeltw.exe" doctor`:                                false,
		`C:\wiebelt\other.exe ring`:                                       false,
		"":                                                                false,
	} {
		if RunsWiebelt(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
