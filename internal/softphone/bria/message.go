package bria

import (
	"html"
	"iter"
	"strconv"
	"strings"
)

// statusRequest returns the request for the list of calls, as written in the vendor's samples.
func statusRequest(id int) []byte {
	const body = "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<status>\r\n <type>call</type>\r\n</status>"
	return []byte("GET /status\r\nUser-Agent: Wiebelt\r\nTransaction-ID: " + strconv.Itoa(id) +
		"\r\nContent-Type: application/xml\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// message is the content of one WebSocket message: roughly an HTTP message with XML.
type message struct {
	answer bool // to a request; otherwise an event
	status int  // of an answer: 200
	id     string
	event  string // "call"; "" for an unknown kind
	body   string
}

// parseMessage parses a message, which ends with the WebSocket message. Its body begins at the
// first "<": Content-Length is wrong in the vendor's own examples.
func parseMessage(b []byte) (m message, ok bool) {
	head := string(b)
	if i := strings.IndexByte(head, '<'); i >= 0 {
		head, m.body = head[:i], head[i:]
	}
	first, head, _ := strings.Cut(strings.TrimLeft(head, " \t\r\n\ufeff"), "\n")
	if strings.HasPrefix(first, "HTTP/") {
		_, rest, _ := strings.Cut(first, " ")
		rest = strings.TrimSpace(rest)
		if len(rest) < 3 {
			return message{}, false
		}
		status, err := strconv.ParseUint(rest[:3], 10, 16)
		if err != nil || status < 100 {
			return message{}, false
		}
		m.answer, m.status = true, int(status)
		for line := range strings.Lines(head) {
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(name), "Transaction-ID") {
				m.id = strings.TrimSpace(value)
			}
		}
		return m, true
	}
	const told = "POST/statusChange" // the vendor's document sometimes omits the space
	what := strings.NewReplacer(" ", "", "\t", "").Replace(first)
	if len(what) < len(told) || !strings.EqualFold(what[:len(told)], told) {
		return message{}, strings.ContainsRune(first, '/') // possibly an event of a later version
	}
	for t := range tags(m.body) {
		if t.name == "event" {
			m.event = t.attribute("type")
			break
		}
	}
	return m, true
}

// Limits on a list of calls; the rest is dropped.
const (
	maxCalls   = 64
	maxParties = 64
)

type party struct {
	number, name, state string
}

type briaCall struct {
	id      string
	parties []party
}

// readCalls reads an answer about calls; ok is false if it is about something else or
// incomplete. It recognises elements by name and order of their start tags, so that
// unclosed ones do no harm.
func readCalls(body string) (calls []briaCall, ok bool) {
	about := false // the answer is about calls
	r := callReader{}
	for t := range tags(body) {
		if r.field != nil {
			*r.field = strings.TrimSpace(t.before)
			r.field = nil
		}
		switch {
		case t.name == "status" && about:
			return r.calls, true // its end tag
		case t.name == "status":
			if t.end || t.attribute("type") != "call" {
				return nil, false
			}
			if about = true; t.empty {
				return nil, true
			}
		case about && t.name == "call" && !t.end:
			if len(r.calls) == maxCalls {
				return r.calls, true
			}
			r.calls, r.inParticipant = append(r.calls, briaCall{}), false
		case about && len(r.calls) > 0:
			r.readTag(t, &r.calls[len(r.calls)-1])
		}
	}
	return nil, false
}

type callReader struct {
	calls         []briaCall
	inParticipant bool    // inside a participant
	field         *string // receives the text before the next tag
}

func (r *callReader) readTag(t tag, c *briaCall) {
	switch {
	case t.name == "participant":
		if r.inParticipant = !t.end && len(c.parties) < maxParties; r.inParticipant {
			c.parties = append(c.parties, party{})
		}
	case t.end:
	case t.name == "id" && !r.inParticipant && c.id == "":
		r.field = &c.id
	case r.inParticipant:
		p := &c.parties[len(c.parties)-1]
		switch t.name {
		case "number":
			r.field = &p.number
		case "displayname":
			r.field = &p.name
		case "state":
			r.field = &p.state
		}
	}
}

// tag is <name …>, </name> or <name/>, with the text before it.
type tag struct {
	name       string // lower case, without namespace
	attributes string // attributes
	before     string
	end        bool // </name>
	empty      bool // <name/>
}

// tags returns the tags of XML-like text. A "<" that does not start a tag is text.
func tags(s string) iter.Seq[tag] {
	return func(yield func(tag) bool) {
		var text strings.Builder
		for {
			i := strings.IndexByte(s, '<')
			if i < 0 {
				return
			}
			text.WriteString(html.UnescapeString(s[:i]))
			s = s[i+1:]
			var inner string
			found := true
			switch {
			case strings.HasPrefix(s, "!--"):
				_, s, found = strings.Cut(s[3:], "-->")
			case strings.HasPrefix(s, "![CDATA["):
				inner, s, found = strings.Cut(s[8:], "]]>")
				text.WriteString(inner)
			case s != "" && (s[0] == '/' || s[0] == '_' || 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z'):
				if inner, s, found = strings.Cut(s, ">"); !found || !yield(tagOf(inner, text.String())) {
					return
				}
				text.Reset()
			default:
				text.WriteByte('<')
			}
			if !found {
				return
			}
		}
	}
}

func tagOf(inner, before string) tag {
	t := tag{before: before}
	inner, t.end = strings.CutPrefix(inner, "/")
	inner, t.empty = strings.CutSuffix(inner, "/")
	t.name = inner
	if i := strings.IndexAny(inner, " \t\r\n"); i >= 0 {
		t.name, t.attributes = inner[:i], inner[i:]
	}
	t.name = strings.ToLower(t.name[strings.LastIndexByte(t.name, ':')+1:])
	return t
}

// attribute returns the value of an attribute, "" if there is none.
func (t tag) attribute(name string) string {
	for more := t.attributes; ; {
		key, rest, _ := strings.Cut(more, "=")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return ""
		}
		value, rest, found := strings.Cut(rest[1:], rest[:1])
		if !found {
			return ""
		}
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(html.UnescapeString(value))
		}
		more = rest
	}
}
