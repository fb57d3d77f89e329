package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestDeliverBuild builds one message from a document and its attachments.
func TestDeliverBuild(t *testing.T) {
	s := newSender(t)
	xml := s.file("polis.xml", fmt.Sprintf(contract, 1))
	pdf := s.file("bijlage é.pdf", "%PDF-1.4")
	s.exits(0, "--build", xml, pdf).says("1 aangeleverd")
	all, err := s.hub.Messages(t.Context(), "", 10)
	if err != nil || len(all) != 1 || all[0].Files != 2 {
		t.Fatalf("%+v %v", all, err)
	}
	if r := s.report(); filepath.Base(r.Files[0].File) != "polis.zip" || r.Files[0].SHA256 != all[0].SHA256 {
		t.Errorf("%+v", r.Files[0])
	}
	s.exits(5, "--build", pdf, xml).complains("geweigerd: ")
	s.exits(1, "--build", xml, filepath.Join(s.in, "weg.pdf")).complains("weg.pdf")
}

// TestExpand expands files, folders, patterns and lists, each file once.
func TestExpand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a.zip", "b.ZIP", "c.txt", ".hidden.zip", "@odd.zip", "[1].zip"} {
		put(t, filepath.Join(dir, name), []byte("x"))
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "sub", "deep.zip"), 0o700))
	put(t, filepath.Join(dir, "sub", "d.zip"), []byte("x"))
	must.Do(t, os.Symlink(filepath.Join(dir, "a.zip"), filepath.Join(dir, "sub", "link.zip")))
	put(t, filepath.Join(dir, "list.txt"), []byte("\ufeffa.zip\r\n\r\n# of today\r\n  sub  \r\n*.ZIP\nc.txt"))
	put(t, filepath.Join(dir, "names.txt"), []byte("[1].zip\n[a].zip\n[a]*\na?.zip\n"))
	put(t, filepath.Join(dir, "latin.txt"), []byte("a\xe9.zip\n"))
	put(t, filepath.Join(dir, "long.txt"), []byte(strings.Repeat("x", 10_000)))
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"a.zip", "./a.zip", filepath.Join(dir, "a.zip")}, []string{"a.zip"}},
		{[]string{"."}, []string{"@odd.zip", "[1].zip", "a.zip", "b.ZIP"}},
		{[]string{"*.zip"}, []string{".hidden.zip", "@odd.zip", "[1].zip", "a.zip"}},
		{[]string{"@list.txt"}, []string{"a.zip", "sub/d.zip", "b.ZIP", "c.txt"}},
		{[]string{"@odd.zip"}, []string{"@odd.zip"}},
		{[]string{"[1].zip"}, []string{"[1].zip"}},
		{[]string{"sub"}, []string{"sub/d.zip"}}, // not a link, which may lead anywhere
		{[]string{"sub/[d]*"}, []string{"sub/d.zip"}},
		{[]string{"*.none", "a?.zip", "s*b"}, []string{"*.none", "a?.zip", "s*b"}},
		{[]string{"@names.txt"}, []string{"[1].zip", "[a].zip", "[a]*", "a?.zip"}},
		{[]string{"absent.zip"}, []string{"absent.zip"}},
		{[]string{"@latin.txt"}, []string{"error"}},
		{[]string{"@long.txt"}, []string{"error"}},
		{[]string{"@absent.txt"}, []string{"error"}},
		{[]string{"[a"}, []string{"error"}},
	} {
		got, err := expand(c.args)
		if err != nil {
			got = []string{"error"}
		}
		for i, p := range got {
			if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsAbs(p) {
				got[i] = filepath.ToSlash(rel)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}
