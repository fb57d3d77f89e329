package message

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"wiebelt/internal/testutil/must"
)

func source(name, content string) Source {
	return Source{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func TestBuild(t *testing.T) {
	pdf := strings.Repeat("%PDF-1.7 verzonnen ", 10_000)
	attachments := []Source{source("polis.pdf", pdf), source("map/één.txt", ""), source("zwart.bin", strings.Repeat("\x00", 40<<20))}
	var first, second bytes.Buffer
	must.Do(t, Build(t.Context(), &first, source("bericht.xml", example), attachments))
	if err := Build(t.Context(), &second, source("bericht.xml", example), attachments); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("not the same again: %v", err)
	}
	r := inspected(t, first.Bytes())
	if !r.Sendable(true) || codes(r.Findings, Note) != "attachment_unnamed attachment_unnamed" {
		t.Errorf("%v: %v", r, r.Findings)
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil || len(z.File) != 4 {
		t.Fatal(err)
	}
	for i, want := range []string{example, pdf, ""} {
		in := must.Get(z.File[i].Open())(t)
		got, err := io.ReadAll(in)
		flags := []uint16{0, 0, flagUTF8}[i] // old readers may not know other flags
		if f := z.File[i]; err != nil || string(got) != want || f.Flags != flags || f.Modified.Year() != 1980 {
			t.Errorf("%s: %d bytes, %v, flags %x, %v", f.Name, len(got), err, f.Flags, f.Modified)
		}
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	xml := source("bericht.xml", example)
	for name, want := range map[string]BuildError{
		"../a": {NameUp, 1}, "/a": {NameAbsolute, 1}, "nul.pdf": {NameDevice, 1}, "": {NameImpossible, 1}, "a/": {NameImpossible, 1},
		"bericht.xml": {NameTwice, 1}, "BERICHT.XML": {NameTwice, 1}, `a\b`: {NameBackslash, 1}, "ab:c": {NameColon, 1}, "a?": {NameOdd, 1},
	} {
		var b bytes.Buffer
		var e *BuildError
		if err := Build(t.Context(), &b, xml, []Source{source(name, "x")}); !errors.As(err, &e) || *e != want || b.Len() > 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
	build := func(xml Source, more ...Source) error { return Build(t.Context(), io.Discard, xml, more) }
	var e *BuildError
	if err := build(source("a.xml", strings.Repeat("x", int(Defaults.XML)+1))); !errors.As(err, &e) || *e != (BuildError{XMLTooLarge, 0}) {
		t.Error(err)
	}
	if err := build(source("a.xml", "geen XML")); !errors.As(err, &e) || *e != (BuildError{NoDocument, 0}) {
		t.Error(err)
	}
	must.Do(t, build(source("a.xml", "\xef\xbb\xbf"+example)))
	if err := build(xml, make([]Source, 10_000)...); !errors.As(err, &e) || *e != (BuildError{TooManyEntries, -1}) {
		t.Error(err)
	}
	other := source("a", "x")
	other.Size = 2
	if err := build(xml, other); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	for _, turns := range [][2]string{{"abc", "abd"}, {"abc", "ab"}, {"abc", "abcd"}} {
		turn := 0
		changing := Source{Name: "a", Size: int64(len(turns[0])), Open: func() (io.ReadCloser, error) {
			turn++
			return io.NopCloser(strings.NewReader(turns[(turn-1)%2])), nil
		}}
		if err := build(xml, changing); !errors.Is(err, ErrChanged) {
			t.Errorf("%v: %v", turns, err)
		}
	}
	broken := errors.New("broken")
	for _, in := range []io.ReadCloser{nil, io.NopCloser(iotest.ErrReader(broken))} {
		opened := func() (io.ReadCloser, error) {
			if in == nil {
				return nil, broken
			}
			return in, nil
		}
		if err := build(xml, Source{Name: "a", Open: opened}); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Build(ctx, io.Discard, xml, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWhatIsBuiltCanBeSent checks that the output of
// Build may be sent, whatever the names and contents.
func TestWhatIsBuiltCanBeSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var attachments []Source
		for i, c := range rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "contents") {
			attachments = append(attachments, source(fmt.Sprintf("%s-%d.bin", rapid.StringMatching(`[a-zé ]{0,5}`).Draw(t, "name"), i), c))
		}
		var b bytes.Buffer
		must.Do(t, Build(context.Background(), &b, source("bericht.xml", example), attachments))
		r, files, err := InspectZIP(context.Background(), bytes.NewReader(b.Bytes()), int64(b.Len()), Defaults)
		if err != nil || !r.Sendable(false) || files != 1+len(attachments) {
			t.Fatalf("%v, %v", r, err)
		}
	})
}
