package message

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"
)

const maxDocuments = 64

// Inspect checks a ZIP of size bytes before it is sent: its directory, the place and name
// of each file, every byte of their contents, and the document. It unpacks nothing to disk.
// The error is r's or the context's; the report has the problems with the ZIP itself.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, l Limits) (*Report, error) {
	report, _, err := inspect(ctx, r, size, l, true)
	return report, err
}

// InspectZIP is Inspect without reading documents, for any kind of files. files is their
// number, excluding folders.
func InspectZIP(ctx context.Context, r io.ReaderAt, size int64, l Limits) (report *Report, files int, err error) {
	return inspect(ctx, r, size, l, false)
}

func inspect(ctx context.Context, r io.ReaderAt, size int64, l Limits, documents bool) (*Report, int, error) {
	f := &file{ctx: ctx, r: r, size: size}
	i := inspection{f: f, in: newUnpacker(f), limit: l, report: &Report{}}
	candidates, err := i.checkZIP()
	if err == nil && documents && i.report.Sendable(false) {
		err = i.readDocuments(candidates)
	}
	if f.err != nil {
		return nil, 0, f.err
	}
	if b, ok := errors.AsType[zipError](err); ok {
		i.report.addZIP(b.code, b.entry)
		err = nil
	}
	return i.report, i.files, err
}

type inspection struct {
	f       *file
	in      *unpacker
	limit   Limits
	report  *Report
	members []member
	files   int // members other than folders
}

// checkZIP checks the ZIP and the bytes of every entry. The candidates may be documents.
func (i *inspection) checkZIP() (candidates []int, err error) {
	end, err := i.f.findEnd()
	if err != nil {
		return nil, err
	}
	if i.members, err = i.f.readDirectory(end, i.limit, i.report); err != nil {
		return nil, err
	}
	if err := i.f.checkLayout(i.members, end, i.report); err != nil {
		return nil, err
	}
	if !i.report.Sendable(false) {
		return nil, nil // nothing is unpacked if it cannot be sent
	}
	return i.readEntries()
}

// readEntries reads every entry to its end and returns those that may be documents: the XML
// files or, if none has that extension, those that start like one.
func (i *inspection) readEntries() (candidates []int, err error) {
	var alike []int
	buf := make([]byte, 32<<10)
	for n, m := range i.members {
		if m.folder {
			continue
		}
		i.files++
		if strings.EqualFold(path.Ext(m.displayName), ".xml") {
			candidates = append(candidates, n)
		}
		i.in.open(n, m)
		for first := true; ; first = false {
			k, err := i.in.Read(buf)
			if first && looksLikeXML(buf[:k]) {
				alike = append(alike, n)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		if i.in.hasTrailing {
			i.report.addZIP(UnusedBytes, n)
		}
	}
	if i.files == 0 {
		return nil, archiveError(EmptyZIP)
	}
	if len(candidates) == 0 {
		candidates = alike
	}
	return candidates, nil
}

func looksLikeXML(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(b, []byte("<?xml")) || bytes.HasPrefix(b, []byte("<"+rootName)) ||
		bytes.HasPrefix(b, []byte("\xff\xfe<\x00?\x00")) || bytes.HasPrefix(b, []byte("\xfe\xff\x00<\x00?"))
}

// readDocuments reads the XML files. If one is a Contractdocument, the
// others are attachments, and only safety findings about them count.
func (i *inspection) readDocuments(candidates []int) error {
	r := i.report
	var others []*Report
	var named []bool
	var files nameIndex
	budget := 4 * i.limit.XML
	for n, at := range candidates {
		m := i.members[at]
		if n >= maxDocuments || budget <= 0 {
			r.addZIP(XMLNotRead, -1)
			break
		}
		part := &Report{}
		i.in.open(at, m)
		attachments, isContract, err := readDocument(i.in, i.limit, func(c Code, element string, line int) {
			part.add(Finding{c, c.Severity(), at, element, line})
		})
		if err != nil {
			return err
		}
		budget -= m.unpacked - i.in.remaining
		if !isContract {
			others = append(others, part)
			continue
		}
		r.merge(part, Note)
		if named == nil {
			named, files = make([]bool, len(i.members)), newNameIndex(i.members)
		} else {
			r.addZIP(SeveralDocuments, at)
		}
		named[at] = true
		i.matchAttachments(attachments, at, files, named)
	}
	from := Note
	if named != nil {
		from = Refused
	}
	for _, o := range others {
		r.merge(o, from)
	}
	if len(candidates) == 0 {
		r.addZIP(NoDocument, -1)
	}
	for n := range named {
		if !named[n] && !i.members[n].folder {
			r.addZIP(AttachmentUnnamed, n)
		}
	}
	return nil
}

// merge adds a document's findings of at least the given severity.
func (r *Report) merge(part *Report, from Severity) {
	for _, f := range part.Findings {
		if f.Severity >= from {
			r.add(f)
		}
	}
}

// nameIndex finds the entry for a name.
type nameIndex struct{ exact, folded, base map[string]int }

func newNameIndex(members []member) nameIndex {
	l := nameIndex{map[string]int{}, map[string]int{}, map[string]int{}}
	for n, m := range members {
		if name := strings.ReplaceAll(m.displayName, `\`, "/"); !m.folder {
			folded := fold(name)
			l.exact[name], l.folded[folded], l.base[path.Base(folded)] = n, n, n
		}
	}
	return l
}

// find returns the entry, or -1, and a finding about the match.
func (l nameIndex) find(name string) (entry int, odd Code) {
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

func (i *inspection) matchAttachments(all []attachment, document int, files nameIndex, named []bool) {
	for _, a := range all {
		note := func(c Code, element string) {
			i.report.add(Finding{Code: c, Severity: c.Severity(), Entry: document, Element: a.at + "/" + element})
		}
		n, odd := files.find(a.file)
		if odd != "" {
			note(odd, "BY_URLBY")
		}
		if n < 0 {
			continue
		}
		named[n] = true
		if a.extension != "" && !strings.EqualFold("."+a.extension, path.Ext(i.members[n].displayName)) {
			note(AttachmentExtension, "BY_EXT")
		}
	}
}
