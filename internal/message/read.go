package message

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Read reads an XML document in UTF-8, UTF-16 with its mark, or one of the
// Western single-byte encodings. Entities other than the five of XML are never
// expanded, nothing is ever fetched. The document is nil where it is of another
// type or could not be read; the findings say which. What the shape does not
// name is kept in Extra, apart from attributes and stray text in a group. The
// error is r's.
func Read(r io.Reader, l Limits) (*Contractdocument, []Finding, error) {
	report := &Report{}
	d, _, err := readDocument(r, l.orDefaults(), func(c Code, element string, line int) {
		report.add(Finding{Code: c, Severity: c.Severity(), Entry: -1, Element: element, Line: line})
	})
	return d, report.Findings, err
}

// finder is told what is found.
type finder func(c Code, element string, line int)

// readDocument reads a document; the kind is Contract, Other or Unreadable.
func readDocument(r io.Reader, l Limits, found finder) (*Contractdocument, Kind, error) {
	in := bufio.NewReaderSize(r, 16<<10)
	chars, odd, err := charsetOf(in)
	for _, c := range odd {
		found(c, "", 0)
	}
	var p problem
	if errors.As(err, &p) {
		found(Code(p), "", 0)
		return nil, Unreadable, nil
	}
	if err != nil {
		return nil, Unreadable, err
	}
	t := newTree(in, chars, l)
	root, err := t.read()
	if t.doctype {
		found(XMLDoctype, "", 0)
	}
	switch {
	case errors.As(err, &p):
		if Code(p) == OtherType {
			found(OtherType, "", t.line)
			return nil, Other, nil
		}
		found(Code(p), "", t.line)
		return nil, Unreadable, nil
	case err != nil:
		return nil, Unreadable, err
	}
	d := &Contractdocument{}
	fill(d.parts(), root, "", found)
	return d, Contract, nil
}

// node is an element as it was read.
type node struct {
	name     string
	attrs    []Attr
	text     string
	children []node
	line     int
}

// tree reads the elements of a Contractdocument.
type tree struct {
	g       *guard
	d       *xml.Decoder
	limit   Limits
	tokens  int
	line    int // where a problem is
	doctype bool
}

func newTree(r *bufio.Reader, chars charset, l Limits) *tree {
	g := &guard{r: r, next: chars.next, left: l.XML}
	d := xml.NewDecoder(g)
	// The guard gives UTF-8, whatever the document declares.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return &tree{g: g, d: d, limit: l}
}

// token reads a token. Errors are problems, io.EOF or the reader's.
func (t *tree) token() (xml.Token, error) {
	t.g.token = t.limit.Token
	token, err := t.d.RawToken()
	t.line, _ = t.d.InputPos()
	switch {
	case err == nil:
	case t.g.failed != nil:
		return nil, t.g.failed
	case err == io.EOF:
		return nil, io.EOF
	default:
		return nil, problem(XMLMalformed)
	}
	t.tokens++
	if start, ok := token.(xml.StartElement); ok {
		t.tokens += len(start.Attr)
	}
	if t.tokens > t.limit.Tokens {
		return nil, problem(XMLTooMany)
	}
	return token, nil
}

// read gives the root element. One of another name ends it with OtherType: what
// is in it is nobody's business here.
func (t *tree) read() (root node, err error) {
	type open struct {
		node
		text []byte
	}
	var stack []open
	done := false
	for {
		token, err := t.token()
		if err == io.EOF && done {
			return root, nil
		}
		if err == io.EOF {
			err = problem(XMLMalformed) // nothing, or elements that do not end
		}
		if err != nil {
			return node{}, err
		}
		switch x := token.(type) {
		case xml.Directive:
			if t.doctype = true; bytes.Contains(x, []byte("<!ENTITY")) {
				return node{}, problem(XMLEntity)
			}
			if done || len(stack) > 0 {
				return node{}, problem(XMLMalformed)
			}
		case xml.ProcInst:
			if x.Target == "xml" && t.tokens > 1 {
				return node{}, problem(XMLMalformed)
			}
		case xml.CharData:
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.text = append(top.text, x...)
			} else if !blank(x) {
				return node{}, problem(XMLMalformed)
			}
		case xml.StartElement:
			switch {
			case done:
				return node{}, problem(XMLMalformed)
			case len(stack) == 0 && x.Name.Local != rootName:
				return node{}, problem(OtherType)
			case len(stack) == t.limit.Depth:
				return node{}, problem(XMLTooDeep)
			}
			n := node{name: raw(x.Name), line: t.line}
			for _, a := range x.Attr {
				n.attrs = append(n.attrs, Attr{raw(a.Name), a.Value})
			}
			stack = append(stack, open{node: n})
		case xml.EndElement:
			if len(stack) == 0 || stack[len(stack)-1].name != raw(x.Name) {
				return node{}, problem(XMLMalformed)
			}
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(n.children) == 0 || !blank(n.text) {
				n.node.text = string(n.text)
			}
			if len(stack) == 0 {
				root, done = n.node, true
				break
			}
			top := &stack[len(stack)-1]
			top.children = append(top.children, n.node)
		}
	}
}

// raw is a name as it was written.
func raw(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func local(name string) string {
	if _, after, ok := strings.Cut(name, ":"); ok && after != "" {
		return after
	}
	return name
}

func blank(b []byte) bool { return len(bytes.Trim(b, " \t\r\n")) == 0 }

func (n node) element() Element {
	e := Element{Name: n.name, Attrs: n.attrs, Text: n.text}
	for _, c := range n.children {
		e.Children = append(e.Children, c.element())
	}
	return e
}

// fill puts what was read into a group. path is where the group stands.
func fill(g parts, n node, path string, found finder) {
	below := func(name string) string {
		if path == "" {
			return shown(name)
		}
		return path + "/" + shown(name)
	}
	attributes := func(n node, at string) {
		for _, a := range n.attrs {
			if a.Name == "xmlns" || strings.HasPrefix(a.Name, "xmlns:") {
				found(Namespace, at, n.line)
			} else {
				found(UnknownAttribute, at, n.line)
			}
		}
	}
	attributes(n, path)
	if strings.Trim(n.text, " \t\r\n") != "" {
		found(StrayText, path, n.line)
	}
	count := map[string]int{}
	last, ordered := 0, true
	for _, c := range n.children {
		name := local(c.name)
		place, value, in := g.find(name)
		if place == 0 {
			found(UnknownElement, below(c.name), c.line)
			*g.extra = append(*g.extra, c.element())
			continue
		}
		if count[name]++; count[name] == 2 {
			if in != nil {
				found(RepeatedGroup, below(name), c.line)
			} else {
				found(RepeatedElement, below(name), c.line)
			}
		}
		if place < last && ordered {
			ordered = false
			found(OtherOrder, below(name), c.line)
		}
		last = place
		if in != nil {
			fill(in.add(), c, fmt.Sprintf("%s[%d]", below(name), count[name]), found)
			continue
		}
		attributes(c, below(name))
		switch {
		case len(c.children) > 0:
			found(NestedElement, below(name), c.line)
			*g.extra = append(*g.extra, c.element())
		case *value == "":
			*value = c.text
			if code := checkValue(name, c.text); code != "" {
				found(code, below(name), c.line)
			}
		case c.text != "":
			*g.extra = append(*g.extra, c.element())
		}
	}
	for _, f := range g.fields {
		if *f.value == "" {
			found(MissingElement, below(f.name), n.line)
		}
	}
	for _, in := range g.groups {
		if count[in.name] == 0 {
			found(MissingGroup, below(in.name), n.line)
		}
	}
}

// find gives the place of a name in the group, from 1, and what stands there; 0
// if the group does not have it.
func (g parts) find(name string) (place int, value *string, in *groups) {
	for i := range g.fields {
		if g.fields[i].name == name {
			return i + 1, g.fields[i].value, nil
		}
	}
	for i := range g.groups {
		if g.groups[i].name == name {
			return len(g.fields) + i + 1, nil, &g.groups[i]
		}
	}
	return 0, nil, nil
}

// shown is a name that may stand in a log: one that looks like a name of this
// document. Any other one could be anything.
func shown(name string) string {
	name = local(name)
	letters, rest, split := strings.Cut(name, "_")
	ok := len(letters) == 2 && (!split || rest != "") && len(rest) <= 12
	for _, c := range letters {
		ok = ok && c >= 'A' && c <= 'Z'
	}
	for _, c := range rest {
		ok = ok && (c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}
	if !ok {
		return "?"
	}
	return name
}

// checkValue holds a value against the shape hints of hub-api.md 2.2. An empty
// one is a matter of whether it is required, which is not documented.
func checkValue(name, value string) Code {
	value = strings.Trim(value, " \t\r\n")
	if value == "" {
		return ""
	}
	switch name {
	case "VP_GEBDAT":
		if len(value) != 8 || !digits(value) {
			return BadDate
		}
		if _, err := time.Parse("20060102", value); err != nil || value[:4] == "0000" {
			return NoSuchDate
		}
	case "BY_VOLGNUM":
		if n := strings.TrimPrefix(strings.TrimPrefix(value, "+"), "-"); n == "" || len(n) > 18 || !digits(n) {
			return BadNumber
		}
	case "BY_EXT":
		if !extension(strings.TrimPrefix(value, ".")) {
			return BadExtension
		}
	case "BY_URLBY":
		if code, _ := checkName(value); code.Severity() == Refused {
			return BadFileName
		}
	}
	return ""
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func extension(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 16
}
