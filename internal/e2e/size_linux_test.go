package e2e

import (
	"cmp"
	"debug/elf"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestProgramsAreSmall limits the size of the programs: all of a program is read from disk,
// at every start or when used. A library that adds a megabyte deserves consideration.
func TestProgramsAreSmall(t *testing.T) {
	t.Parallel()
	path := must.Get(binary())(t)
	for name, most := range map[string]float64{"wiebelt": 38.5, "wiebelt-ring": 4.2} {
		if mb := megabytes(t, filepath.Join(filepath.Dir(path), name)); mb > most {
			t.Errorf("%s is %.1f MB, more than %.1f: BenchmarkSize says of what", name, mb, most)
		}
	}
}

func megabytes(t testing.TB, path string) float64 {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	return float64(info.Size()) / 1e6
}

// BenchmarkSize reports the size of the program and its largest parts: code and data by
// library, and what the linker adds for all of them.
func BenchmarkSize(b *testing.B) {
	path := must.Get(binary())(b)
	for range b.N {
		t := newTable(b)
		t.figure("wiebelt", megabytes(b, path), 38, "MB")
		whole := filepath.Join(b.TempDir(), "wiebelt")
		must.Do(b, build(whole, "", "./app/wiebelt", "CGO_ENABLED=0"))
		parts := partsOf(b, whole)
		largest := slices.SortedFunc(maps.Keys(parts), func(x, y string) int { return cmp.Compare(parts[y], parts[x]) })
		for _, name := range largest[:16] {
			t.figure("  "+name, parts[name]/1e6, 0, "MB")
		}
		t.print(b, "bench-size.json")
	}
}

// partsOf returns the bytes of a program's file by library.
func partsOf(b *testing.B, path string) map[string]float64 {
	f := must.Get(elf.Open(path))(b)
	defer f.Close()
	symbols := must.Get(f.Symbols())(b)
	parts := map[string]float64{}
	for _, s := range f.Sections {
		switch s.Name {
		case ".gopclntab":
			parts["names, lines and stacks of functions"] = float64(s.FileSize)
		case ".rodata":
			parts["types, texts and pictures"] = float64(s.FileSize)
		}
	}
	for _, s := range symbols {
		if int(s.Section) >= len(f.Sections) {
			continue
		}
		if in := f.Sections[s.Section].Name; in == ".text" || in == ".data" || in == ".noptrdata" {
			parts[library(s.Name)] += float64(s.Size)
		}
	}
	return parts
}

// library returns the module of a symbol, or its part of our code or of Go's library.
func library(symbol string) string {
	symbol, _, _ = strings.Cut(strings.TrimPrefix(symbol, "type:.eq."), "[")
	dir, last := "", symbol
	if i := strings.LastIndexByte(symbol, '/'); i >= 0 {
		dir, last = symbol[:i+1], symbol[i+1:]
	}
	last, _, _ = strings.Cut(last, ".")
	words := strings.Split(dir+last, "/")
	n := 1
	if strings.Contains(words[0], ".") || words[0] == "wiebelt" {
		n = 3
	}
	return strings.Join(words[:min(n, len(words))], "/")
}
