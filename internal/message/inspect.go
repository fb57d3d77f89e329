package message

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// maxDocuments is how many XML files of one ZIP are looked at.
const maxDocuments = 64

// Inspect looks at a ZIP of size bytes before it is sent: its list of files, the
// place and name of each, every byte of their contents, and the document. It
// unpacks nothing to disk. The error is r's or the context's; whatever is wrong
// with the ZIP itself stands in the report.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, o Options) (*Report, error) {
	report := &Report{Kind: NoZIP, DocumentEntry: -1}
	f := &file{ctx: ctx, r: r, size: max(size, 0)}
	i := inspection{f, newUnpacker(f), o.Limits.orDefaults(), report}
	err := i.run(o.Quick)
	if i.f.err != nil {
		return nil, i.f.err
	}
	var b bad
	if errors.As(err, &b) {
		if b.entry >= len(report.Entries) {
			b.entry = -1 // it could not be read
		}
		report.zip(b.code, b.entry)
		err = nil
	}
	return report, err
}

type inspection struct {
	f      *file
	in     *unpacker
	limit  Limits
	report *Report
}

func (i *inspection) run(quick bool) error {
	end, err := i.f.findEnd()
	if err != nil {
		return err
	}
	members, err := i.f.directory(end, i.limit, i.report)
	if err != nil {
		return err
	}
	if err := i.f.layout(members, end, i.report); err != nil {
		return err
	}
	if !i.report.Sendable(false) {
		return nil // no byte is unpacked of what is not sent
	}
	candidates, err := i.contents(members, quick)
	if err != nil {
		return err
	}
	return i.documents(members, candidates)
}

// contents reads every entry to its end and gives those that may be documents:
// the XML files or, where none has that extension, what begins like one.
func (i *inspection) contents(members []member, quick bool) (candidates []int, err error) {
	var alike []int
	files := 0
	buf := make([]byte, 32<<10)
	for n, m := range members {
		xml := strings.EqualFold(path.Ext(i.report.Entries[n].Name), ".xml")
		if !m.folder {
			files++
		}
		if !m.folder && xml {
			candidates = append(candidates, n)
		}
		if m.folder || quick && !xml {
			continue
		}
		i.in.open(m)
		for first := true; ; first = false {
			k, err := i.in.Read(buf)
			if first && !xml && likeXML(buf[:k]) {
				alike = append(alike, n)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, i.broken(err, n)
			}
		}
		if i.in.unused {
			i.report.zip(UnusedBytes, n)
		}
	}
	if files == 0 {
		return nil, whole(EmptyZIP)
	}
	if len(candidates) == 0 {
		candidates = alike
	}
	return candidates, nil
}

// broken makes an error of an entry's contents a finding.
func (i *inspection) broken(err error, entry int) error {
	var p problem
	if errors.As(err, &p) {
		return bad{Code(p), entry}
	}
	return err
}

func likeXML(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(b, []byte("<?xml")) || bytes.HasPrefix(b, []byte("<"+rootName)) ||
		bytes.HasPrefix(b, []byte("\xff\xfe<\x00?\x00")) || bytes.HasPrefix(b, []byte("\xfe\xff\x00<\x00?"))
}

// documents reads the XML files. Where one of them is a Contractdocument, the
// others are attachments: only what is not safe in them matters.
func (i *inspection) documents(members []member, candidates []int) error {
	r := i.report
	r.Kind = None
	var others []*Report
	var named []bool
	var files lookup
	budget := 4 * i.limit.XML
	for n, at := range candidates {
		m := members[at]
		if n >= maxDocuments || budget <= 0 {
			r.zip(XMLNotRead, -1)
			break
		}
		part := &Report{}
		i.in.open(m)
		d, kind, err := readDocument(i.in, i.limit, func(c Code, element string, line int) {
			part.add(Finding{c, c.Severity(), at, element, line})
		})
		if err != nil {
			return i.broken(err, at)
		}
		budget -= m.unpacked - i.in.left
		if d == nil {
			others = append(others, part)
			if r.Kind == None || r.Kind == Unreadable {
				r.Kind = kind
			}
			continue
		}
		r.merge(part, Note)
		if r.Document == nil {
			r.Document, r.DocumentEntry = d, at
			named, files = make([]bool, len(members)), lookupOf(r.Entries)
		} else {
			r.zip(SeveralDocuments, at)
		}
		named[at] = true
		i.attachments(d, at, files, named)
	}
	from := Note
	if r.Document != nil {
		r.Kind, from = Contract, Refused
	}
	for _, o := range others {
		r.merge(o, from)
	}
	if r.Kind == None {
		r.zip(NoDocument, -1)
	}
	for n := range named {
		if !named[n] && !members[n].folder {
			r.zip(AttachmentUnnamed, n)
		}
	}
	return nil
}

// merge takes over the findings of a document that are bad enough.
func (r *Report) merge(part *Report, from Severity) {
	for _, f := range part.Findings {
		if f.Severity >= from {
			r.add(f)
		}
	}
	if from == Note {
		r.More += part.More
	}
	if part.worst >= from {
		r.worst = max(r.worst, part.worst)
	}
}

// lookup finds the entry that a name means.
type lookup struct{ exact, folded, base map[string]int }

func lookupOf(entries []Entry) lookup {
	l := lookup{map[string]int{}, map[string]int{}, map[string]int{}}
	first := func(in map[string]int, key string, n int) {
		if _, there := in[key]; !there {
			in[key] = n
		}
	}
	for n, e := range entries {
		if name := strings.ReplaceAll(e.Name, `\`, "/"); !e.Folder {
			folded := fold(name)
			first(l.exact, name, n)
			first(l.folded, folded, n)
			first(l.base, path.Base(folded), n)
		}
	}
	return l
}

// find gives the entry, or -1, and what is odd about it.
func (l lookup) find(name string) (entry int, odd Code) {
	if n, ok := l.exact[name]; ok {
		return n, ""
	}
	if n, ok := l.folded[fold(name)]; ok {
		return n, AttachmentCase
	}
	if n, ok := l.base[path.Base(fold(name))]; ok {
		return n, AttachmentFolder
	}
	return -1, AttachmentMissing
}

// attachments holds what each BY names against the entries.
func (i *inspection) attachments(d *Contractdocument, document int, files lookup, named []bool) {
	for a, al := range d.AL {
		for b, by := range al.BY {
			name := strings.ReplaceAll(strings.Trim(by.Urlby, " \t\r\n"), `\`, "/")
			if name == "" {
				continue
			}
			note := func(c Code, element string) {
				at := fmt.Sprintf("AL[%d]/BY[%d]/%s", a+1, b+1, element)
				i.report.add(Finding{Code: c, Severity: c.Severity(), Entry: document, Element: at})
			}
			n, odd := files.find(name)
			if odd != "" {
				note(odd, "BY_URLBY")
			}
			if n < 0 {
				continue
			}
			named[n] = true
			ext := strings.TrimPrefix(strings.Trim(by.Ext, " \t\r\n"), ".")
			if ext != "" && !strings.EqualFold("."+ext, path.Ext(i.report.Entries[n].Name)) {
				note(AttachmentExtension, "BY_EXT")
			}
		}
	}
}
