package settings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A check cleans a text and says whether it is allowed.
type check func(string) (string, bool)

func text(key, def, allowed string, p func(*Settings) *string, ok check) Entry {
	return Entry{Key: key, Type: Text, Allowed: allowed, def: def,
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			v, isText := raw.(string)
			if !isText {
				return nil, &complaint{WrongType, "a text in quotes: " + allowed}
			}
			if v = strings.TrimSpace(v); v == "" {
				return def, nil // an empty text is nothing set
			}
			if v, isOK := ok(v); isOK {
				return v, nil
			}
			return nil, &complaint{NotAllowed, allowed}
		}}
}

// choice is one of a few words; the first is the default.
func choice(key string, p func(*Settings) *string, words ...string) Entry {
	allowed := oneOf(words)
	return Entry{Key: key, Type: Choice, Allowed: allowed, Choices: words, def: words[0],
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			v, isText := raw.(string)
			if !isText {
				return nil, &complaint{WrongType, "a text in quotes: " + allowed}
			}
			if !slices.Contains(words, v) {
				return nil, &complaint{NotAllowed, allowed}
			}
			return v, nil
		}}
}

func oneOf(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func number(key string, def, least, most int, p func(*Settings) *int) Entry {
	allowed := fmt.Sprintf("%d to %d", least, most)
	return Entry{Key: key, Type: Number, Allowed: allowed, Least: least, Most: most, def: def,
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			var v int64
			switch n := raw.(type) {
			case int64:
				v = n
			case int:
				v = int64(n)
			default:
				return nil, &complaint{WrongType, "a whole number, " + allowed}
			}
			if v < int64(least) || v > int64(most) || v > math.MaxInt32 {
				return nil, &complaint{NotAllowed, allowed}
			}
			return int(v), nil
		}}
}

func flag(key string, def bool, p func(*Settings) *bool) Entry {
	return Entry{Key: key, Type: Flag, Allowed: "true or false", def: def,
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			if v, ok := raw.(bool); ok {
				return v, nil
			}
			return nil, &complaint{WrongType, "true or false"}
		}}
}

func duration(key string, def, least, most time.Duration, p func(*Settings) *time.Duration) Entry {
	allowed := fmt.Sprintf("%s to %s", shortDuration(least), shortDuration(most))
	return Entry{Key: key, Type: Duration, Allowed: allowed, def: def,
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			var v time.Duration
			switch d := raw.(type) {
			case time.Duration:
				v = d
			case string:
				var err error
				if v, err = time.ParseDuration(strings.TrimSpace(d)); err != nil {
					return nil, &complaint{NotAllowed, `a time such as "60s", ` + allowed}
				}
			default:
				return nil, &complaint{WrongType, `a time in quotes such as "60s", ` + allowed}
			}
			if v < least || v > most {
				return nil, &complaint{NotAllowed, allowed}
			}
			return v, nil
		}}
}

func date(key string, p func(*Settings) *time.Time) Entry {
	const allowed = `a date such as "2027-01-31"`
	return Entry{Key: key, Type: Date, Allowed: allowed, def: time.Time{},
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
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
					return nil, &complaint{NotAllowed, allowed}
				}
				return v, nil
			}
			return nil, &complaint{WrongType, allowed}
		}}
}

// maxList is how many elements a list may have.
const maxList = 500

// list is a list of texts. With words, only those may stand in it, each once,
// and the whole list is the default; else each is put to ok and the default is
// empty.
func list(key, allowed string, p func(*Settings) *[]string, words []string, ok check) Entry {
	if words != nil {
		allowed += " (" + strings.Join(words, ", ") + ")"
	}
	return Entry{Key: key, Type: List, Allowed: allowed, Choices: words, def: slices.Clone(words),
		field: func(s *Settings) any { return p(s) },
		read: func(raw any) (any, *complaint) {
			var parts []string
			switch l := raw.(type) {
			case []string:
				parts = l
			case []any:
				for _, x := range l {
					s, isText := x.(string)
					if !isText {
						return nil, &complaint{WrongType, "a list of texts: " + allowed}
					}
					parts = append(parts, s)
				}
			default:
				return nil, &complaint{WrongType, "a list of texts: " + allowed}
			}
			if len(parts) > maxList {
				return nil, &complaint{NotAllowed, fmt.Sprintf("at most %d %s", maxList, allowed)}
			}
			var v []string
			if words != nil {
				v = []string{} // none of them is a wish too
			}
			for _, s := range parts {
				s = strings.TrimSpace(s)
				fine := s != ""
				if words != nil {
					fine = slices.Contains(words, s) && !slices.Contains(v, s)
				} else if fine {
					s, fine = ok(s)
				}
				if !fine {
					return nil, &complaint{NotAllowed, allowed}
				}
				v = append(v, s)
			}
			return v, nil
		}}
}
