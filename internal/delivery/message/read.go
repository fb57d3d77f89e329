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

type findingFunc func(c Code, element string, line int)

// readDocument reads an XML document in UTF-8, UTF-16 with a mark, or a Western single-byte
// encoding, and compares it with the form of a Contractdocument. Entities other than XML's own
// five are never expanded, and nothing is ever fetched. isContract is false for a document of
// another type and for an unreadable one; found receives the reason. The error is r's.
func readDocument(r io.Reader, l Limits, found findingFunc) (attachments []attachment, isContract bool, err error) {
	in := bufio.NewReaderSize(r, 16<<10)
	t, odd, err := newDocumentReader(in, l)
	if odd != "" {
		found(odd, "", 0)
	}
	var root node
	if err == nil {
		root, err = t.read()
	}
	if t.doctype {
		found(XMLDoctype, "", 0)
	}
	var p problem
	switch {
	case errors.As(err, &p):
		found(Code(p), "", t.line)
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	c := checker{found: found}
	c.checkGroup(contractSchema, root, "")
	return c.attachments, true, nil
}

type node struct {
	name     string // without a prefix
	attrs    []xml.Name
	text     string
	children []node
	line     int
}

type documentReader struct {
	g       *limitedReader
	d       *xml.Decoder
	limit   Limits
	tokens  int
	line    int // of a problem
	doctype bool
}

func newDocumentReader(r *bufio.Reader, l Limits) (_ *documentReader, odd Code, err error) {
	in, plain, odd, err := decodeText(r)
	g := &limitedReader{asciiOnly: plain, docRemaining: l.XML}
	switch in {
	case nil:
	case r:
		g.r = r
	default:
		g.r, g.decoded = bufio.NewReaderSize(in, 4<<10), true
	}
	d := xml.NewDecoder(g)
	// The guard returns UTF-8, whatever the document declares.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return &documentReader{g: g, d: d, limit: l}, odd, err
}

// token reads a token. Errors are problems, io.EOF or the reader's.
func (t *documentReader) token() (xml.Token, error) {
	t.g.tokenRemaining = t.limit.Token
	token, err := t.d.Token()
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

// element is an element whose end has not been read yet.
type element struct {
	node
	text []byte
}

// read returns the root element. A root with another name
// ends reading with OtherType: its content is not inspected.
func (t *documentReader) read() (root node, err error) {
	var open []element
	done := false
	for {
		token, err := t.token()
		if err == io.EOF && done {
			return root, nil
		}
		if err == io.EOF {
			err = problem(XMLMalformed) // no root element
		}
		if err != nil {
			return node{}, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			if open, err = t.pushElement(open, x, done); err != nil {
				return node{}, err
			}
		case xml.EndElement: // ends the innermost open element
			n := open[len(open)-1].toNode()
			if open = open[:len(open)-1]; len(open) == 0 {
				root, done = n, true
			} else {
				in := &open[len(open)-1]
				in.children = append(in.children, n)
			}
		case xml.CharData:
			if len(open) > 0 {
				in := &open[len(open)-1]
				in.text = append(in.text, x...)
			} else if !isBlank(x) {
				return node{}, problem(XMLMalformed)
			}
		default:
			if err := t.otherToken(x, done || len(open) > 0); err != nil {
				return node{}, err
			}
		}
	}
}

func (t *documentReader) pushElement(open []element, x xml.StartElement, done bool) ([]element, error) {
	switch {
	case done:
		return nil, problem(XMLMalformed)
	case len(open) == 0 && x.Name.Local != rootName:
		return nil, problem(OtherType)
	case len(open) == t.limit.Depth:
		return nil, problem(XMLTooDeep)
	}
	n := node{name: x.Name.Local, line: t.line}
	for _, a := range x.Attr {
		n.attrs = append(n.attrs, a.Name)
	}
	return append(open, element{node: n}), nil
}

// toNode returns the element once its end has been read.
func (e element) toNode() node {
	if len(e.children) == 0 || !isBlank(e.text) {
		e.node.text = string(e.text)
	}
	return e.node
}

// otherToken handles tokens other than elements and text; begun means that the root has started.
func (t *documentReader) otherToken(token xml.Token, begun bool) error {
	switch x := token.(type) {
	case xml.Directive:
		if t.doctype = true; bytes.Contains(x, []byte("<!ENTITY")) {
			return problem(XMLEntity)
		}
		if begun {
			return problem(XMLMalformed)
		}
	case xml.ProcInst:
		if x.Target == "xml" && t.tokens > 1 {
			return problem(XMLMalformed)
		}
	}
	return nil
}

func isBlank(b []byte) bool { return len(bytes.Trim(b, " \t\r\n")) == 0 }

// checker compares a document with the expected form.
type checker struct {
	found       findingFunc
	attachments []attachment
}

func (c *checker) checkAttributes(n node, at string) {
	for _, a := range n.attrs {
		if a.Space == "xmlns" || a == (xml.Name{Local: "xmlns"}) {
			c.found(Namespace, at, n.line)
		} else {
			c.found(UnknownAttribute, at, n.line)
		}
	}
}

func (c *checker) checkGroup(g group, n node, path string) {
	below := func(name string) string {
		if path == "" {
			return safeName(name)
		}
		return path + "/" + safeName(name)
	}
	c.checkAttributes(n, path)
	if strings.Trim(n.text, " \t\r\n") != "" {
		c.found(StrayText, path, n.line)
	}
	count, values := map[string]int{}, map[string]string{}
	last, ordered := 0, true
	for _, child := range n.children {
		name := child.name
		place, inner := g.find(name)
		if place == 0 {
			c.found(UnknownElement, below(name), child.line)
			continue
		}
		if count[name]++; count[name] == 2 {
			if inner != nil {
				c.found(RepeatedGroup, below(name), child.line)
			} else {
				c.found(RepeatedElement, below(name), child.line)
			}
		}
		if place < last && ordered {
			ordered = false
			c.found(OtherOrder, below(name), child.line)
		}
		last = place
		if inner != nil {
			c.checkGroup(*inner, child, fmt.Sprintf("%s[%d]", below(name), count[name]))
			continue
		}
		c.checkAttributes(child, below(name))
		if len(child.children) > 0 {
			c.found(NestedElement, below(name), child.line)
		} else if values[name] == "" {
			values[name] = child.text
			if code := checkValue(name, child.text); code != "" {
				c.found(code, below(name), child.line)
			}
		}
	}
	c.reportMissing(g, n, count, values, below)
	if file := strings.Trim(values["BY_URLBY"], " \t\r\n"); file != "" {
		extension := strings.TrimPrefix(strings.Trim(values["BY_EXT"], " \t\r\n"), ".")
		c.attachments = append(c.attachments, attachment{strings.ReplaceAll(file, `\`, "/"), extension, path})
	}
}

func (c *checker) reportMissing(g group, n node, count map[string]int, values map[string]string, below func(string) string) {
	for _, name := range g.elements {
		if values[name] == "" {
			c.found(MissingElement, below(name), n.line)
		}
	}
	for _, inner := range g.groups {
		if count[inner.name] == 0 {
			c.found(MissingGroup, below(inner.name), n.line)
		}
	}
}

// safeName returns a name that is fit for a log, that is, one in the style of this
// document. For any other name, which could contain anything, it returns "?".
func safeName(name string) string {
	group, rest, split := strings.Cut(name, "_")
	if len(group) != 2 || split && rest == "" || len(rest) > 12 || !consistsOf(group, capitals) || !consistsOf(rest, capitals+digits) {
		return "?"
	}
	return name
}

// checkValue compares a value with the form shown in the example. Whether an element may
// be empty is not documented.
func checkValue(name, value string) Code {
	value = strings.Trim(value, " \t\r\n")
	if value == "" {
		return ""
	}
	switch name {
	case "VP_GEBDAT":
		if len(value) != 8 || !consistsOf(value, digits) {
			return BadDate
		}
		if _, err := time.Parse("20060102", value); err != nil || value[:4] == "0000" {
			return NoSuchDate
		}
	case "BY_VOLGNUM":
		if n := strings.TrimPrefix(strings.TrimPrefix(value, "+"), "-"); n == "" || len(n) > 18 || !consistsOf(n, digits) {
			return BadNumber
		}
	case "BY_EXT":
		if e := strings.TrimPrefix(value, "."); e == "" || len(e) > 16 || !consistsOf(e, digits+capitals+letters) {
			return BadExtension
		}
	case "BY_URLBY":
		if code, _ := checkName(value); code.Severity() == Refused {
			return BadFileName
		}
	}
	return ""
}

const (
	digits   = "0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters  = "abcdefghijklmnopqrstuvwxyz"
)

func consistsOf(s, characters string) bool { return strings.Trim(s, characters) == "" }
