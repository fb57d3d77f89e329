package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	words "wiebelt/internal/text"
)

// A check cleans a text and reports whether it is allowed.
type check func(string) (string, bool)

// entry completes e: p returns its field, and read converts a value from a file or from
// Go to the field's type.
func entry[T any](e Entry, def T, p func(*Settings) *T, read func(raw any) (T, *rejection)) Entry {
	e.Audience, e.def = audienceOf(e.Key), def
	e.get = func(s *Settings) any { return *p(s) }
	e.set = func(s *Settings, v any) { *p(s) = v.(T) }
	e.read = func(raw any) (any, *rejection) { return read(raw) }
	return e
}

func text(key, def string, p func(*Settings) *string, ok check) Entry {
	return entry(Entry{Key: key, Type: Text}, def, p, func(raw any) (string, *rejection) {
		v, isText := raw.(string)
		if !isText {
			return "", &rejection{WrongType, "a text in quotes: "}
		}
		if v = strings.TrimSpace(v); v == "" {
			return def, nil // an empty text means unset
		}
		if v, isOK := ok(v); isOK {
			return v, nil
		}
		return "", &rejection{kind: NotAllowed}
	})
}

func choice(key string, p func(*Settings) *string, words ...string) Entry {
	return entry(Entry{Key: key, Type: Choice, Choices: words}, words[0], p, func(raw any) (string, *rejection) {
		v, isText := raw.(string)
		if !isText {
			return "", &rejection{WrongType, "a text in quotes: "}
		}
		if !slices.Contains(words, v) {
			return "", &rejection{kind: NotAllowed}
		}
		return v, nil
	})
}

// allowed says in English what may stand there.
func (e *Entry) allowed() string {
	switch e.Type {
	case Choice:
		last := len(e.Choices) - 1
		return strings.Join(e.Choices[:last], ", ") + " or " + e.Choices[last]
	case Number:
		return fmt.Sprintf("%d to %d", e.Min, e.Max)
	case Flag:
		return "true or false"
	case Duration:
		return FormatDuration(e.MinDuration) + " to " + FormatDuration(e.MaxDuration)
	case List:
		if e.Choices != nil {
			return "fields of a contact (" + strings.Join(e.Choices, ", ") + ")"
		}
	}
	return AllowedText(words.English, e.Key)
}

// AllowedText describes what a key allows that is a text, a date or a list.
func AllowedText(l words.Language, key string) string {
	own := words.SettingAllowedIn(key)
	if s := l.T(own); s != string(own) {
		return s
	}
	return l.T(words.SettingAllowedIn("text"))
}

func number(key string, def, least, most int, p func(*Settings) *int) Entry {
	return entry(Entry{Key: key, Type: Number, Min: least, Max: most}, def, p, func(raw any) (int, *rejection) {
		var v int64
		switch n := raw.(type) {
		case int64:
			v = n
		case int:
			v = int64(n)
		default:
			return 0, &rejection{WrongType, "a whole number, "}
		}
		if v < int64(least) || v > int64(most) {
			return 0, &rejection{kind: NotAllowed}
		}
		return int(v), nil
	})
}

func flag(key string, def bool, p func(*Settings) *bool) Entry {
	return entry(Entry{Key: key, Type: Flag}, def, p, func(raw any) (bool, *rejection) {
		if v, ok := raw.(bool); ok {
			return v, nil
		}
		return false, &rejection{kind: WrongType}
	})
}

func duration(key string, def, least, most time.Duration, p func(*Settings) *time.Duration) Entry {
	return entry(Entry{Key: key, Type: Duration, MinDuration: least, MaxDuration: most}, def, p, func(raw any) (v time.Duration,
		c *rejection) {
		switch d := raw.(type) {
		case time.Duration:
			v = d
		case string:
			var err error
			if v, err = time.ParseDuration(strings.TrimSpace(d)); err != nil {
				return 0, &rejection{NotAllowed, `a time such as "60s", `}
			}
		default:
			return 0, &rejection{WrongType, `a time in quotes such as "60s", `}
		}
		if v < least || v > most {
			return 0, &rejection{kind: NotAllowed}
		}
		return v, nil
	})
}

func date(key string, p func(*Settings) *time.Time) Entry {
	return entry(Entry{Key: key, Type: Date}, time.Time{}, p, func(raw any) (time.Time, *rejection) {
		switch d := raw.(type) {
		case time.Time:
			if d.IsZero() {
				return d, nil
			}
			y, m, day := d.Date()
			return time.Date(y, m, day, 0, 0, 0, 0, time.Local), nil
		case string:
			if d = strings.TrimSpace(d); d == "" {
				return time.Time{}, nil
			}
			v, err := time.ParseInLocation(time.DateOnly, d, time.Local)
			if err != nil {
				return v, &rejection{kind: NotAllowed}
			}
			return v, nil
		}
		return time.Time{}, &rejection{kind: WrongType}
	})
}

// maxList limits the elements of a list.
const maxList = 500

// list returns a key with a list of texts, each checked by ok; the default is empty.
func list(key string, p func(*Settings) *[]string, ok check) Entry {
	return entry(Entry{Key: key, Type: List}, nil, p, func(raw any) ([]string, *rejection) {
		return readList(raw, nil, func(s string, _ []string) (string, bool) { return ok(s) })
	})
}

// someOf returns a key with a subset of words, without repeats; all are the default.
func someOf(key string, p func(*Settings) *[]string, words []string) Entry {
	return entry(Entry{Key: key, Type: List, Choices: words}, slices.Clone(words), p, func(raw any) ([]string, *rejection) {
		none := []string{} // empty is a valid choice
		return readList(raw, none, func(s string, before []string) (string, bool) {
			return s, slices.Contains(words, s) && !slices.Contains(before, s)
		})
	})
}

func readList(raw any, v []string, ok func(s string, before []string) (string, bool)) ([]string, *rejection) {
	parts, isTexts := stringsIn(raw)
	switch {
	case !isTexts:
		return nil, &rejection{WrongType, "a list of texts: "}
	case len(parts) > maxList:
		return nil, &rejection{NotAllowed, fmt.Sprintf("at most %d ", maxList)}
	}
	for _, s := range parts {
		s, fine := ok(strings.TrimSpace(s), v)
		if !fine || s == "" {
			return nil, &rejection{kind: NotAllowed}
		}
		v = append(v, s)
	}
	return v, nil
}

// stringsIn returns the texts of a list in TOML or Go form.
func stringsIn(raw any) (parts []string, ok bool) {
	switch l := raw.(type) {
	case []string:
		return l, true
	case []any:
		for _, x := range l {
			s, isText := x.(string)
			if !isText {
				return nil, false
			}
			parts = append(parts, s)
		}
		return parts, true
	}
	return nil, false
}
