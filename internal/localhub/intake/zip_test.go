package intake

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"wiebelt/internal/messagetest"
)

func check(b []byte, l Limits) (int, error) {
	return CheckZIP(context.Background(), bytes.NewReader(b), int64(len(b)), l, 3)
}

// entries makes a ZIP of entries that may lie.
func entries(t testing.TB, change func(i int, h *zip.FileHeader), contents ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, c := range contents {
		h := &zip.FileHeader{Name: fmt.Sprintf("f%d.xml", i), Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(c)),
			CompressedSize64: uint64(len(c)), UncompressedSize64: uint64(len(c))}
		change(i, h)
		w, err := z.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, c)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func named(names ...string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		return entries(t, func(i int, h *zip.FileHeader) { h.Name = names[i] }, names...)
	}
}

func TestGoodZIPs(t *testing.T) {
	comment := func(c string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create("a.xml")
		_, _ = io.WriteString(w, "<Contractdocument/>")
		_ = z.SetComment(c)
		_ = z.Close()
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		zip   []byte
		files int
	}{
		"one file":          {messagetest.ZIP(t, "a.xml", "<Contractdocument/>"), 1},
		"a message":         {messagetest.ZIP(t, "bericht.xml", "<Contractdocument/>", "bijlagen/polis.pdf", strings.Repeat("%PDF", 9999), "leeg.txt", ""), 3},
		"a folder":          {messagetest.ZIP(t, "map/", "", "map/a.xml", "a"), 1},
		"accents":           {messagetest.ZIP(t, "één…€.xml", "x"), 1},
		"old names":         {named("caf\x82.xml")(t), 1},
		"a comment":         {comment("gemaakt door een testpersoon"), 1},
		"a comment, longer": {comment(strings.Repeat("PK", 30_000)), 1},
		"stored":            {entries(t, func(int, *zip.FileHeader) {}, "a", "b"), 2},
	} {
		if n, err := check(c.zip, Defaults); err != nil || n != c.files {
			t.Errorf("%s: %d files, %v", name, n, err)
		}
	}
}

func TestBadZIPs(t *testing.T) {
	good := messagetest.ZIP(t, "a.xml", strings.Repeat("abc", 1000))
	changed := func(f func(b []byte)) func(*testing.T) []byte {
		return func(*testing.T) []byte { b := bytes.Clone(good); f(b); return b }
	}
	end := len(good) - 22
	for name, zipOf := range map[string]func(*testing.T) []byte{
		"nothing":              func(*testing.T) []byte { return nil },
		"a text":               func(*testing.T) []byte { return []byte("<html>geen zip</html>") },
		"empty":                func(t *testing.T) []byte { return messagetest.ZIP(t) },
		"folders only":         func(t *testing.T) []byte { return messagetest.ZIP(t, "a/", "", "b/", "") },
		"cut off":              func(*testing.T) []byte { return good[:len(good)-30] },
		"cut at the end":       func(*testing.T) []byte { return good[:len(good)-1] },
		"only its beginning":   func(*testing.T) []byte { return good[:40] },
		"something behind":     func(*testing.T) []byte { return append(bytes.Clone(good), "more"...) },
		"something in front":   func(*testing.T) []byte { return append([]byte("PK\x03\x04more"), good...) },
		"a damaged byte":       changed(func(b []byte) { b[45] ^= 1 }),
		"a damaged directory":  changed(func(b []byte) { b[end-30] ^= 0xff }),
		"a false count":        changed(func(b []byte) { b[end+10], b[end+8] = 7, 7 }),
		"a false place":        changed(func(b []byte) { b[end+16] ^= 1 }),
		"a false length":       changed(func(b []byte) { b[end+12] ^= 1 }),
		"64 bits, none there":  changed(func(b []byte) { copy(b[end+16:], "\xff\xff\xff\xff") }),
		"a path upwards":       named("../a.xml"),
		"a path upwards, deep": named("a/../../b.xml"),
		"upwards, Windows":     named(`..\a.xml`),
		"a root":               named("/etc/passwd"),
		"a drive":              named(`C:\a.xml`),
		"a share":              named(`\\elders\a.xml`),
		"a stream":             named("a.xml:b"),
		"a zero byte":          named("a\x00.xml"),
		"a line break":         named("a\n.xml"),
		"no name":              named(""),
		"a long name":          named(strings.Repeat("a", 2000)),
		"twice":                named("a.xml", "a.xml"),
		"twice but for case":   named("a.xml", "A.XML"),
		"a link": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }, "/etc/passwd")
		},
		"encrypted": func(t *testing.T) []byte { return entries(t, func(_ int, h *zip.FileHeader) { h.Flags |= 1 }, "x") },
		"packed oddly": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.Method = 99 }, "x")
		},
		"another checksum": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.CRC32++ }, "x")
		},
		"longer than it says": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.UncompressedSize64-- }, "xyz")
		},
		"shorter than it says": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.UncompressedSize64++ }, "xyz")
		},
		"a huge size": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.UncompressedSize64 = 1 << 62 }, "xyz")
		},
		"sizes that wrap around": func(t *testing.T) []byte {
			return entries(t, func(_ int, h *zip.FileHeader) { h.UncompressedSize64 = 1 << 63 }, "a", "b")
		},
		"overlapping": overlapping,
		"a bomb":      func(t *testing.T) []byte { return messagetest.ZIP(t, "a", strings.Repeat("\x00", 40<<20)) },
		"many files":  func(t *testing.T) []byte { return messagetest.ZIP(t, many2(10_001)...) },
	} {
		n, err := check(zipOf(t), Defaults)
		var r *Refusal
		if !errors.As(err, &r) || r.Reason != BadZIP || r.Item != 3 || n != 0 {
			t.Errorf("%s: %d files, %v", name, n, err)
		}
	}
	if _, err := check(messagetest.ZIP(t, "a", strings.Repeat("a", 1001)), Limits{Entries: 1, Unpacked: 1000}); err == nil {
		t.Error("more bytes than allowed")
	}
}

func many2(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("f%d", i), "")
	}
	return all
}

// overlapping names the same packed bytes many times, the way that a bomb of
// small size does.
func overlapping(t *testing.T) []byte {
	b := entries(t, func(int, *zip.FileHeader) {}, strings.Repeat("x", 5000), "y", "y", "y")
	first, at := uint32(0), bytes.Index(b, []byte("PK\x01\x02"))
	for i := 0; i < 4; i++ {
		h := b[at:]
		if i == 0 {
			first = binary.LittleEndian.Uint32(h[42:])
		} else {
			copy(h[16:28], b[bytes.Index(b, []byte("PK\x01\x02")):][16:28]) // checksum and sizes
			binary.LittleEndian.PutUint32(h[42:], first)
		}
		at += 46 + int(binary.LittleEndian.Uint16(h[28:])) + int(binary.LittleEndian.Uint16(h[30:]))
	}
	return b
}

// A list of files that claims to be short must not be read at its full length.
func TestZIPMemoryIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "long.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for i := range 60_000 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	size, _ := f.Seek(0, io.SeekEnd)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = CheckZIP(t.Context(), f, size, Defaults, 0)
	runtime.ReadMemStats(&after)
	var r *Refusal
	if grown := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &r) || grown > 1<<20 {
		t.Errorf("%v after %d bytes", err, grown)
	}
}

func TestCheckZIPEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := messagetest.ZIP(t, "a", strings.Repeat("abc", 50_000))
	if _, err := CheckZIP(ctx, bytes.NewReader(b), int64(len(b)), Defaults, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzCheckZIP(f *testing.F) {
	f.Add(messagetest.ZIP(f, "a.xml", "<a/>", "b/", "", "b/c", "x"))
	f.Add(entries(f, func(int, *zip.FileHeader) {}, "a", "b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := check(b, Limits{Entries: 100, Unpacked: 1 << 20})
		if err == nil {
			z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
			if err != nil || n == 0 || n > len(z.File) {
				t.Fatalf("%d files, %v", n, err)
			}
			return
		}
		var r *Refusal
		if !errors.As(err, &r) || r.Reason != BadZIP {
			t.Fatal(err)
		}
	})
}
