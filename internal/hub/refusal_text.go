package hub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/lazyregexp"
)

// Limits on how much of a hub's answer is repeated.
const (
	maxHeardFrom = 16 << 10
	maxHeard     = 240 // runes
)

// passRefusal passes on the text of an answer in which the hub refused a request, with
// any secret in hide, none of them empty, removed.
func (c *Client) passRefusal(raw []byte, hide ...string) {
	if c.cfg.OnRefusal == nil {
		return
	}
	hidden := func(s string) string {
		for _, h := range hide {
			s = strings.ReplaceAll(s, h, "…")
		}
		return s
	}
	// Hide secrets before they can be cut, and again after unescaping.
	c.cfg.OnRefusal(hidden(refusalText([]byte(hidden(string(raw))))))
}

// refusalFields lists the fields in which servers explain an error, best first.
var refusalFields = []string{"error_description", "detail", "message", "title", "error", "description"}

var (
	invisibleHTML = lazyregexp.New(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<!--.*?-->`)
	tags          = lazyregexp.New(`<[^>]*>`)
)

// refusalText returns an answer's explanation, that of an error object or else
// the text of a page, on one line, without control characters, cut to maxHeard.
func refusalText(raw []byte) string {
	raw = bytes.TrimPrefix(raw[:min(len(raw), maxHeardFrom)], []byte("\ufeff"))
	var object map[string]any
	if json.Unmarshal(raw, &object) == nil {
		return oneLine(strings.Join(wordsOf(object), " · "))
	}
	if json.Valid(raw) {
		return ""
	}
	return oneLine(tags().ReplaceAllString(invisibleHTML().ReplaceAllString(string(raw), " "), " "))
}

// wordsOf returns the explanations in an error object, or in one nested below "error".
func wordsOf(object map[string]any) []string {
	var all []string
	for _, name := range refusalFields {
		switch v := object[name].(type) {
		case string:
			if v != "" && !slices.Contains(all, v) && len(all) < 2 {
				all = append(all, v)
			}
		case map[string]any:
			if name == "error" && len(all) == 0 {
				all = wordsOf(v)
			}
		}
	}
	return all
}

func oneLine(s string) string {
	return displaytext.Truncate(strings.Join(strings.Fields(displaytext.StripHidden(s)), " "), maxHeard)
}
