package message_test

import (
	"testing"

	"wiebelt/internal/message"
	"wiebelt/internal/text"
)

// TestEveryCodeHasWords: each in both languages and in words of its own.
func TestEveryCodeHasWords(t *testing.T) {
	keys := map[text.Key]bool{}
	for _, c := range message.Codes() {
		keys[text.MessageFinding(string(c))] = true
	}
	if len(keys) < 60 {
		t.Fatalf("only %d codes", len(keys))
	}
	for _, k := range []message.Kind{message.Contract, message.Other, message.Unreadable, message.None, message.NoZIP} {
		keys[text.MessageKind(string(k))] = true
	}
	for _, s := range []message.Severity{message.Note, message.Warning, message.Refused} {
		keys[text.MessageSeverity(s.String())] = true
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		seen := map[string]text.Key{}
		for k := range keys {
			s := l.T(k)
			if s == string(k) || s == "" {
				t.Errorf("%s has no text", k)
			}
			if other, twice := seen[s]; twice {
				t.Errorf("%s and %s say the same: %q", other, k, s)
			}
			seen[s] = k
		}
	}
}
