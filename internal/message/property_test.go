package message

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text of XML: everything but control characters.
func genText(t *rapid.T, label string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, rapid.OneOf(rapid.String(), rapid.StringMatching(`[&<>"'\t\n\r \]a]{0,8}`)).Draw(t, label))
}

func genElement(t *rapid.T, depth int) Element {
	e := Element{Name: rapid.StringMatching(`(x:)?[A-Za-zé_][A-Za-z0-9é._-]{0,6}_X`).Draw(t, "name"), Text: genText(t, "text")}
	for range rapid.IntRange(0, 2).Draw(t, "attrs") {
		e.Attrs = append(e.Attrs, Attr{rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "attr"), genText(t, "value")})
	}
	if depth > 0 {
		for range rapid.IntRange(0, 2).Draw(t, "children") {
			e.Children = append(e.Children, genElement(t, depth-1))
		}
	}
	if len(e.Children) > 0 && strings.Trim(e.Text, " \t\r\n") == "" {
		e.Text = "" // between elements it is layout
	}
	return e
}

func genGroup(t *rapid.T, g parts) {
	for _, f := range g.fields {
		*f.value = genText(t, f.name)
	}
	for _, in := range g.groups {
		for range rapid.IntRange(0, 3).Draw(t, in.name) {
			genGroup(t, in.add())
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "extra") {
		*g.extra = append(*g.extra, genElement(t, 2))
	}
}

func genDocument(t *rapid.T) *Contractdocument {
	d := &Contractdocument{}
	genGroup(t, d.parts())
	return d
}

// TestReadGivesWhatWasWritten, and the bytes are the same the second time.
func TestReadGivesWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDocument(t)
		var b, again bytes.Buffer
		if err := Write(&b, d); err != nil {
			t.Fatal(err)
		}
		written := b.String()
		got, found, err := Read(&b, Limits{})
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("%v, %v\n%s\n%#v", err, found, written, got)
		}
		if err := Write(&again, got); err != nil || again.String() != written {
			t.Fatalf("%v\n%s\n%s", err, written, &again)
		}
	})
}

// TestOrderIsTheDocuments: the types have the groups and elements of hub-api.md
// 2.2, in its order, and nothing else.
func TestOrderIsTheDocuments(t *testing.T) {
	want := []string{
		"UN_ZENDER", "UN_ONTVAN",
		"AL_VRWRKCD", "AL_FUNCTIE", "AL_DATACAT",
		"BY_VRWRKCD", "BY_VOLGNUM", "BY_BYLSRT", "BY_EXT", "BY_URLBY", "BY_PROCESC", "BY_ENDBSTM", "BY_REACTIE",
		"PP_VRWRKCD", "PP_NUMMER", "PP_MYAAND",
		"VP_VRWRKCD", "VP_ANAAM", "VP_VOORL", "VP_GEBDAT",
	}
	var got []string
	var walk func(g parts)
	walk = func(g parts) {
		for _, f := range g.fields {
			*f.value = "1"
			got = append(got, f.name)
		}
		for _, in := range g.groups {
			walk(in.add())
		}
	}
	d := &Contractdocument{}
	walk(d.parts())
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var b strings.Builder
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, name := range want {
		i := strings.Index(b.String()[at:], "<"+name+">")
		if i < 0 {
			t.Fatalf("%s is not in its place", name)
		}
		at += i
	}
}

// canary stands for everything that is about a person.
const canary = "Kanarie"

// TestNothingPersonalInReports: neither the report nor the findings, the document
// or an error of Build shows a value or a name of a file.
func TestNothingPersonalInReports(t *testing.T) {
	xml := changed("AFZENDER", canary, "19800229", canary, "polis.pdf", canary+".pdf", "<PP>", "<PP><"+canary+" "+canary+`="`+canary+`"/>`,
		"<BY_VOLGNUM>1<", "<BY_VOLGNUM>"+canary+"<", "<UN>", "<UN>"+canary)
	b := crafted{items: []item{{name: canary + ".xml", content: xml}, {name: canary + "?.txt", content: canary}}}.bytes()
	r := inspect(t, b, Options{})
	if len(r.Findings) < 6 || r.Document == nil {
		t.Fatalf("%v", r)
	}
	d := *r.Document
	build := Build(t.Context(), &bytes.Buffer{}, source(canary+"/../..", xml), nil)
	var said strings.Builder
	for _, x := range []any{r, r.Findings, r.Entries, r.LogValue(), d, r.Document, d.UN, d.AL, d.AL[0].BY, d.PP, d.PP[0].VP, d.PP[0].Extra, build} {
		fmt.Fprintf(&said, "%v %+v\n", x, x)
		if s, ok := x.(fmt.Stringer); ok {
			said.WriteString(s.String())
		}
	}
	if strings.Contains(said.String(), canary) {
		t.Error(said.String())
	}
}
