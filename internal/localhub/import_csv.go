package localhub

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"wiebelt/internal/text"
)

const maxImportColumns = 200

// readCSV reads rows after a header row.
func (m *importer) readCSV() error {
	b := bufio.NewReaderSize(m.in, importBuffer)
	comma, said, err := detectSeparator(b)
	if err != nil {
		return m.unreadable(1, err)
	}
	r := csv.NewReader(b)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	last := 1
	if said {
		_, _ = r.Read() // the separator line
		last = 2
	}
	header, err := m.readHeader(r, last)
	if err != nil || header == nil {
		return err
	}
	m.in.next()
	for {
		record, err := r.Read()
		var broken *csv.ParseError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &broken):
			m.beginRow(broken.StartLine)
			if !errors.Is(err, csv.ErrBareQuote) {
				m.rejectRow("", text.Errorf(text.LocalhubImportQuote))
				return nil
			}
			m.rejectRow("", text.Errorf(text.LocalhubImportBareQuote))
		case err != nil:
			return m.unreadable(last, err)
		default:
			last, _ = r.FieldPos(0)
			if empty(record) {
				m.in.next()
				continue // spreadsheets write such rows after the last one
			}
			m.beginRow(last)
			m.readRecord(header, record)
		}
		if err := m.endRow(); err != nil {
			return err
		}
	}
}

type heading struct {
	name   string
	column column
}

// readHeader reads the column names, which start at line from.
// If they are unusable, it reports that and returns nil.
func (m *importer) readHeader(r *csv.Reader, from int) ([]heading, error) {
	m.beginRow(from)
	names, err := r.Read()
	var broken *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, nil // an empty file
	case errors.As(err, &broken):
		m.rejectRow("", text.Errorf(text.LocalhubImportHeaderQuote))
		return nil, nil
	case err != nil:
		return nil, m.unreadable(from, err)
	}
	line, _ := r.FieldPos(0)
	m.beginRow(line)
	if len(names) > maxImportColumns {
		m.rejectRow("", text.Errorf(text.LocalhubImportColumns, maxImportColumns))
		return nil, nil
	}
	var all []heading
	var unknown []string
	var seen [phoneColumn]bool
	known := false
	for _, name := range names {
		name, problem := cleanValue(name)
		if problem != nil {
			m.rejectRow("", text.Errorf(text.LocalhubImportHeaderName, problem))
			return nil, nil
		}
		c, ok := columnOf(name)
		switch {
		case name == "":
			c = ignoredColumn // must stay empty, see readRecord
		case !ok:
			unknown = append(unknown, name)
			continue
		case c < phoneColumn && seen[c]:
			m.rejectRow(columnTable[c].name, text.Errorf(text.LocalhubImportColumnTwice))
		case c < phoneColumn:
			seen[c] = true
		}
		known = known || name != ""
		all = append(all, heading{name, c})
	}
	if len(unknown) > 0 {
		m.rejectRow("", unknownNames(unknown, known))
	}
	if m.row.rejected {
		return nil, nil
	}
	return all, nil
}

func (m *importer) readRecord(header []heading, fields []string) {
	if len(fields) < len(header) {
		m.rejectRow("", text.Errorf(text.LocalhubImportFields, len(fields), len(header)))
		return
	}
	for i, v := range fields {
		switch {
		case i < len(header) && header[i].name != "":
			m.splitValues(header[i].column, header[i].name, v)
		case strings.TrimSpace(v) != "":
			m.rejectRow("", text.Errorf(text.LocalhubImportNoHeading, i+1))
			return
		}
	}
}

func empty(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" })
}

// detectSeparator determines the separator: the one that splits the header row into most
// names, or the one given by a first line such as "sep=;", which spreadsheets read.
func detectSeparator(b *bufio.Reader) (comma rune, said bool, err error) {
	start, err := b.Peek(importBuffer)
	if err != nil && err != io.EOF && len(start) == 0 {
		return 0, false, err
	}
	first, _, _ := bytes.Cut(start, []byte("\n"))
	if s := bytes.Trim(first, "\r\" "); len(s) == 5 && strings.EqualFold(string(s[:4]), "sep=") && strings.ContainsRune(separators, rune(s[4])) &&
		bytes.Count(first, []byte(`"`))%2 == 0 {
		return rune(s[4]), true, nil
	}
	most := -1
	for _, c := range separators {
		r := csv.NewReader(bytes.NewReader(start))
		r.Comma = c
		if names, _ := r.Read(); len(names) > most { // errors are handled later
			comma, most = c, len(names)
		}
	}
	return comma, false, nil
}

const separators = ";,\t"
