package hub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/lazyregexp"
)

// Bounds of what is repeated of a hub's answer.
const (
	maxHeardFrom = 16 << 10
	maxHeard     = 240 // runes
)

// passRefusal passes on the words of an answer in which the hub refused a request.
// hide are secrets that it may have repeated, which are taken out.
func (c *Client) passRefusal(raw []byte, hide ...string) {
	if c.cfg.Heard == nil {
		return
	}
	hidden := func(s string) string {
		for _, h := range hide {
			if h != "" {
				s = strings.ReplaceAll(s, h, "…")
			}
		}
		return s
	}
	// Before a secret could be cut, and once more as it reads without its escapes.
	c.cfg.Heard(hidden(ownWords([]byte(hidden(string(raw))))))
}

// wordy are the names under which servers say what is wrong, best first.
var wordy = []string{"error_description", "detail", "message", "title", "error", "description"}

var (
	unseen = lazyregexp.New(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<!--.*?-->`)
	tags   = lazyregexp.New(`<[^>]*>`)
)

// ownWords is what an answer says in words: those of an error object, else the
// text of a page. On one line, without control characters, cut to a length.
func ownWords(raw []byte) string {
	raw = bytes.TrimPrefix(raw[:min(len(raw), maxHeardFrom)], []byte("\ufeff"))
	var object map[string]any
	if json.Unmarshal(raw, &object) == nil {
		return oneLine(strings.Join(wordsOf(object), " · "))
	}
	if json.Valid(raw) {
		return ""
	}
	return oneLine(tags().ReplaceAllString(unseen().ReplaceAllString(string(raw), " "), " "))
}

// wordsOf picks the words out of an error object, also where it stands below
// "error".
func wordsOf(object map[string]any) []string {
	var all []string
	for _, name := range wordy {
		switch v := object[name].(type) {
		case string:
			if v != "" && !slices.Contains(all, v) && len(all) < 2 {
				all = append(all, v)
			}
		case map[string]any:
			if name == "error" && len(all) == 0 {
				delete(v, "error") // no deeper than this
				all = wordsOf(v)
			}
		}
	}
	return all
}

func oneLine(s string) string {
	return displaytext.Line(strings.Join(strings.Fields(displaytext.Text(s)), " "), maxHeard)
}
