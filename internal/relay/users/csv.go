package users

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

// maxCSV limits a table of users, in bytes.
const maxCSV = 16 << 20

// columns of a table of users. Only the first is required; unknown ones are refused, since
// a misspelt column would be lost.
var columns = []string{"user", "name", "extensions", "numbers", "email", "queues"}

// Errors in a table of users.
var (
	ErrCSV           = text.Errorf(text.RelayCSV)
	ErrDuplicateUser = text.Errorf(text.RelayTwice)
	ErrFileTooLarge  = text.Errorf(text.RelayTooLarge)
)

// ReadCSV reads a table of users: UTF-8 or else Windows-1252, as spreadsheets write it,
// separated by commas or semicolons, with the column names in the first line. Several
// extensions, numbers or queues are separated by "|", a comma or a semicolon, extensions also
// by a space. missing lists the absent columns, for Put. Any mistake in the table is an error,
// which names the line if it is not in the first.
func ReadCSV(r io.Reader) (all []Entry, missing []string, err error) {
	b, err := io.ReadAll(io.LimitReader(r, maxCSV+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(b) > maxCSV:
		return nil, nil, ErrFileTooLarge
	}
	if !utf8.Valid(b) {
		b, _ = charmap.Windows1252.NewDecoder().Bytes(b) // has a character for every byte
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // written by spreadsheets
	c := csv.NewReader(bytes.NewReader(b))
	if first, _, _ := bytes.Cut(b, []byte("\n")); bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		c.Comma = ';'
	}
	head, err := c.Read()
	if err != nil {
		return nil, nil, ErrCSV
	}
	for i, name := range head {
		head[i] = fold(name)
		if !slices.Contains(columns, head[i]) || slices.Index(head, head[i]) != i {
			return nil, nil, ErrCSV
		}
	}
	if !slices.Contains(head, columns[0]) {
		return nil, nil, ErrCSV
	}
	missing = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(head, c) })
	seen := map[wire.User]bool{}
	for {
		row, err := c.Read()
		if err == io.EOF {
			return all, missing, nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, nil, text.Errorf(text.RelayLine, bad.Line, ErrCSV)
		} else if err != nil {
			return nil, nil, err
		}
		line, _ := c.FieldPos(0)
		e, err := entryOf(head, row)
		if err == nil && seen[e.User] {
			err = ErrDuplicateUser
		}
		if err != nil {
			return nil, nil, text.Errorf(text.RelayLine, line, err)
		}
		seen[e.User] = true
		all = append(all, e)
	}
}

func entryOf(head, row []string) (Entry, error) {
	field := map[string]string{}
	for i, name := range head {
		field[name] = strings.TrimSpace(row[i])
	}
	u, err := wire.ParseUser(field["user"])
	if err != nil {
		return Entry{}, err
	}
	e := Entry{User: u, Name: field["name"], Extensions: splitList(field["extensions"], " |,;"), Numbers: splitList(field["numbers"], "|,;"), Email: field["email"], Queues: splitList(field["queues"], "|,;")}
	return e, e.Check()
}

func splitList(s, between string) (all []string) {
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(between, c) }) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
