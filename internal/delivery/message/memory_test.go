package message

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

type taken struct {
	Files, Refused int
	FromOS         uint64 // all memory the Go runtime ever got from the system, in bytes
}

// inspectAll inspects every file in a folder and prints the process's memory use.
func inspectAll(t must.Test, args []string) {
	var got taken
	files, _ := filepath.Glob(filepath.Join(args[0], "*"))
	for _, name := range files {
		f := must.Get(os.Open(name))(t)
		size, _ := f.Seek(0, io.SeekEnd)
		r := must.Get(Inspect(context.Background(), f, size, Defaults))(t)
		_ = f.Close()
		if got.Files++; !r.Sendable(false) {
			got.Refused++
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	got.FromOS = m.Sys
	_ = json.NewEncoder(os.Stdout).Encode(got)
}

// TestMemory: a program that inspects all crafted files, the largest accepted lists of
// names and a ZIP of 200 MB stays below 50 MB.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	files := 0
	for i, c := range zipCases() {
		write(fmt.Sprintf("zip%03d", i), c.zip)
		files++
	}
	for i, c := range xmlCases() {
		write(fmt.Sprintf("xml%03d", i), zipped("bericht.xml", c.xml))
		files++
	}
	names, old := message(), message()
	for i := range 9998 {
		name := fmt.Sprintf("%0140d", i)
		names.items = append(names.items, item{name: name})
		old.items = append(old.items, item{name: strings.Repeat("\xb0", 120) + name[120:]}) // three times as long in UTF-8
	}
	write("names", names.bytes())
	write("old", old.bytes())
	large(t, filepath.Join(dir, "large"), 200<<20)
	files += 3

	cmd := processtest.Command(t.Context(), "inspector", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var got taken
	must.Do(t, json.Unmarshal(out, &got))
	const most = 50_000_000
	for _, b := range [][]byte{names.bytes(), old.bytes()} {
		if r := inspected(t, b); !r.Sendable(false) {
			t.Errorf("a long list: %v", r)
		}
	}
	if got.Files != files || got.Refused < 60 || got.Refused > files-60 {
		t.Errorf("%d of %d files, %d refused", got.Files, files, got.Refused)
	}
	if got.FromOS > most {
		t.Errorf("%d bytes", got.FromOS)
	}
}

// large writes a ZIP with an attachment of size zeros, which compress to almost nothing.
func large(t *testing.T, name string, size int64) {
	t.Helper()
	f := must.Get(os.Create(name))(t)
	defer f.Close()
	crc, noughts := uint32(0), make([]byte, 1<<20)
	for range size >> 20 {
		crc = crc32.Update(crc, crc32.IEEETable, noughts)
	}
	doc := []byte(example)
	docCRC := crc32.ChecksumIEEE(doc)
	head := func(crc uint32, n int64, name string) []byte {
		return put(nil, 20, 0, 0, uint32(0x21<<16), crc, uint32(n), uint32(n), len(name), 0)
	}
	b := put(nil, sigLocal, head(docCRC, int64(len(doc)), "b.xml"), "b.xml", doc)
	second := len(b)
	b = put(b, sigLocal, head(crc, size, "polis.pdf"), "polis.pdf")
	start := int64(len(b)) + size
	list := put(nil, sigDirectory, 20, head(docCRC, int64(len(doc)), "b.xml"), 0, 0, 0, uint32(0), uint32(0), "b.xml")
	list = put(list, sigDirectory, 20, head(crc, size, "polis.pdf"), 0, 0, 0, uint32(0), uint32(second), "polis.pdf")
	list = put(list, sigEnd, 0, 0, 2, 2, uint32(len(list)), uint32(start), 0)
	must.Get(f.WriteAt(b, 0))(t)
	must.Get(f.WriteAt(list, start))(t)
	r, err := Inspect(t.Context(), f, start+int64(len(list)), Defaults)
	if err != nil || !r.Sendable(true) {
		t.Fatalf("%v, %v", r, err)
	}
}

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"inspector": inspectAll})
	goleak.VerifyTestMain(m)
}
