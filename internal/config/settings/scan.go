package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// statement is a table header or a key with its value, and its position in a file.
// Statements are scanned so that a value can be changed in place and a problem gets a line;
// the TOML library decides what a value means.
type statement struct {
	header               bool
	array                bool   // header of an array element: [[line]]
	path                 string // dotted, with the element's number: "hub.proxy", "line[2].name"
	table                string // path of the table that a key stands in, "" at the top
	line                 int    // from 1
	start, end           int    // its whole lines
	valueStart, valueEnd int    // its value
}

const (
	blanks  = " \t"
	bareKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)

// scan finds the statements of a file. It omits what it cannot read: such a file is not
// TOML, or the value is not changed there.
func scan(src string) []statement {
	s := scanner{src: src, line: 1, counts: map[string]int{}}
	for s.pos < len(src) {
		s.statement()
	}
	return s.found
}

type scanner struct {
	src    string
	pos    int
	line   int
	table  string
	counts map[string]int // elements of each array so far
	found  []statement
}

// statement scans what starts on this line, up to the end of its last line.
func (s *scanner) statement() {
	st := statement{start: s.pos, line: s.line, table: s.table}
	s.skip(blanks)
	read := s.keyValue // which an empty line and a comment are not
	if s.pos < len(s.src) && s.src[s.pos] == '[' {
		read = s.header
	}
	ok := read(&st)
	s.restOfLine()
	st.end = s.pos
	if ok {
		s.found = append(s.found, st)
	}
}

func (s *scanner) header(st *statement) bool {
	s.pos++
	if s.pos < len(s.src) && s.src[s.pos] == '[' {
		st.array = true
		s.pos++
	}
	path, ok := s.key()
	if !ok || s.pos >= len(s.src) || s.src[s.pos] != ']' {
		return false
	}
	if st.array {
		s.counts[path]++
		path = fmt.Sprintf("%s[%d]", path, s.counts[path])
	}
	st.header, st.path = true, path
	s.table = path
	return true
}

func (s *scanner) keyValue(st *statement) bool {
	path, ok := s.key()
	if !ok || s.pos >= len(s.src) || s.src[s.pos] != '=' {
		return false
	}
	s.pos++
	s.skip(blanks)
	st.valueStart = s.pos
	s.value()
	st.valueEnd = st.valueStart + len(strings.TrimRight(s.src[st.valueStart:s.pos], " \t\r"))
	st.path = path
	if s.table != "" {
		st.path = s.table + "." + path
	}
	return st.valueEnd > st.valueStart
}

// key scans a dotted key and the blanks after it.
func (s *scanner) key() (string, bool) {
	var parts []string
	for {
		s.skip(blanks)
		start := s.pos
		if s.pos < len(s.src) && (s.src[s.pos] == '"' || s.src[s.pos] == '\'') {
			s.quoted()
			part := s.src[start:s.pos]
			if len(part) < 2 {
				return "", false
			}
			if q, err := strconv.Unquote(part); err == nil && part[0] == '"' {
				part = q
			} else {
				part = part[1 : len(part)-1]
			}
			parts = append(parts, part)
		} else {
			if s.skip(bareKey); s.pos == start {
				return "", false
			}
			parts = append(parts, s.src[start:s.pos])
		}
		s.skip(blanks)
		if s.pos >= len(s.src) || s.src[s.pos] != '.' {
			return strings.Join(parts, "."), true
		}
		s.pos++
	}
}

// value scans to the end of a value: the end of the line or a comment, except
// inside brackets and texts.
func (s *scanner) value() {
	depth := 0
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case '"', '\'':
			s.quoted()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return
			}
			s.line++
		case '#':
			if depth <= 0 {
				return
			}
			for s.pos < len(s.src) && s.src[s.pos] != '\n' {
				s.pos++
			}
			continue
		}
		s.pos++
	}
}

// quoted scans a text in quotes of either kind, across lines if tripled.
func (s *scanner) quoted() {
	q := s.src[s.pos : s.pos+1]
	if three := strings.Repeat(q, 3); strings.HasPrefix(s.src[s.pos:], three) {
		q = three
	}
	s.pos += len(q)
	for s.pos < len(s.src) {
		switch {
		case strings.HasPrefix(s.src[s.pos:], q):
			s.pos += len(q)
			for len(q) == 3 && s.pos < len(s.src) && s.src[s.pos] == q[0] {
				s.pos++ // quotes at the end of the text
			}
			return
		case s.src[s.pos] == '\n':
			if len(q) == 1 {
				return // never closed
			}
			s.line++
		case s.src[s.pos] == '\\' && q[0] == '"':
			if s.pos+1 < len(s.src) && s.src[s.pos+1] != '\n' {
				s.pos++
			}
		}
		s.pos++
	}
}

func (s *scanner) skip(chars string) {
	s.pos = len(s.src) - len(strings.TrimLeft(s.src[s.pos:], chars))
}

func (s *scanner) restOfLine() {
	i := strings.IndexByte(s.src[s.pos:], '\n')
	if i < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += i + 1
	s.line++
}

// lineOf returns the line of a key, or of its container; 0 if neither exists.
func lineOf(found []statement, key string) int {
	for key != "" {
		for _, st := range found {
			if st.path == key || st.path == key+"[1]" {
				return st.line
			}
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}
