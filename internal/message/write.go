package message

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// The errors of Write. They hold nothing of the document.
var (
	ErrText = errors.New("message: a text holds a character that XML cannot")
	ErrName = errors.New("message: an element or attribute has an impossible name")
	ErrDeep = errors.New("message: elements are nested too deeply")
)

// Write writes a document as UTF-8, its groups and elements in the document's
// order. The same document gives the same bytes. Besides w's, the errors are
// ErrText, ErrName and ErrDeep; then nothing was written.
func Write(w io.Writer, d *Contractdocument) error {
	out := &writer{}
	out.b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	out.group(d.parts(), 0)
	if out.err != nil {
		return out.err
	}
	b := bufio.NewWriter(w)
	if _, err := b.WriteString(out.b.String()); err != nil {
		return err
	}
	return b.Flush()
}

type writer struct {
	b   strings.Builder
	err error // the first one
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) group(g parts, depth int) {
	w.line(depth, "<"+g.name+">\n")
	for _, f := range g.fields {
		if *f.value != "" {
			w.line(depth+1, "<"+f.name+">")
			w.text(*f.value, false)
			w.b.WriteString("</" + f.name + ">\n")
		}
	}
	for _, in := range g.groups {
		for _, x := range in.all() {
			w.group(x, depth+1)
		}
	}
	for _, e := range *g.extra {
		w.line(depth+1, "")
		w.element(e, depth+1)
		w.b.WriteByte('\n')
	}
	w.line(depth, "</"+g.name+">\n")
}

func (w *writer) line(depth int, s string) {
	w.b.WriteString(strings.Repeat("  ", depth))
	w.b.WriteString(s)
}

// element writes without line breaks of its own: they could become part of a
// text.
func (w *writer) element(e Element, depth int) {
	if depth >= Defaults.Depth {
		w.fail(ErrDeep)
		return
	}
	w.b.WriteString("<" + w.name(e.Name))
	for _, a := range e.Attrs {
		w.b.WriteString(" " + w.name(a.Name) + `="`)
		w.text(a.Value, true)
		w.b.WriteByte('"')
	}
	if e.Text == "" && len(e.Children) == 0 {
		w.b.WriteString("/>")
		return
	}
	w.b.WriteByte('>')
	w.text(e.Text, false)
	for _, c := range e.Children {
		w.element(c, depth+1)
	}
	w.b.WriteString("</" + e.Name + ">")
}

// name lets through what the reader takes for one name.
func (w *writer) name(s string) string {
	if !strings.ContainsAny(s, " \t\r\n<>&'\"=/") {
		token, err := xml.NewDecoder(strings.NewReader("<" + s + "/>")).RawToken()
		if start, ok := token.(xml.StartElement); err == nil && ok && raw(start.Name) == s {
			return s
		}
	}
	w.fail(ErrName)
	return ""
}

func (w *writer) text(s string, attr bool) {
	for i, c := range s {
		switch {
		case c == '&':
			w.b.WriteString("&amp;")
		case c == '<':
			w.b.WriteString("&lt;")
		case c == '>':
			w.b.WriteString("&gt;")
		case c == '\r':
			w.b.WriteString("&#xD;") // a bare one would come back as a line feed
		case attr && c == '"':
			w.b.WriteString("&quot;")
		case attr && c == '\n':
			w.b.WriteString("&#xA;")
		case attr && c == '\t':
			w.b.WriteString("&#x9;")
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"),
			c < ' ' && c != '\t' && c != '\n', c == 0xFFFE, c == 0xFFFF:
			w.fail(ErrText)
			return
		default:
			w.b.WriteRune(c)
		}
	}
}
