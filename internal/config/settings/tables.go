package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wiebelt/internal/softphone/registry"
)

// lists holds the lists of tables, [[line]] and [[softphone]]; all their fields are texts.
var lists = []Entry{
	tables("line", func(s *Settings) *[]Line { return &s.Lines },
		func(l *Line) []*string { return []*string{&l.Number, &l.Name} }, (*Line).validate,
		Entry{Key: "line.number"}, Entry{Key: "line.name"}),
	tables("softphone", func(s *Settings) *[]Softphone { return &s.Softphones },
		func(p *Softphone) []*string { return []*string{&p.Kind, &p.Name, &p.Address, &p.Extension, &p.User} }, (*Softphone).complete,
		Entry{Key: "softphone.kind", Type: Choice, Choices: registry.Links()}, Entry{Key: "softphone.name"},
		Entry{Key: "softphone.address"}, Entry{Key: "softphone.extension"}, Entry{Key: "softphone.user"}),
}

// reporter receives a problem with a key, which may be an element's.
type reporter func(key string, kind ProblemKind, want string)

// tables returns the entry of a list of tables: parts returns an element's fields
// in the order of fields, and wrong which field is wrong given the previous
// elements, and what it must be if not what is always allowed there; the element
// is then dropped.
func tables[T any](name string, p func(*Settings) *[]T, parts func(*T) []*string, wrong func(*T, []T) (field, want string), fields ...Entry) Entry {
	e := entry[[]T](Entry{Key: name, Type: Tables}, nil, p, nil)
	e.set = func(s *Settings, v any) { *p(s) = slices.Clone(v.([]T)) }
	e.get = func(s *Settings) any { return slices.Clone(*p(s)) }
	e.edited = func(change any, s *Settings) any {
		if f, isFunc := change.(func([]T) []T); isFunc {
			return f(slices.Clone(*p(s)))
		}
		return change
	}
	for _, f := range fields {
		f.Type = cmp.Or(f.Type, Text)
		f.Audience = audienceOf(f.Key)
		e.fields = append(e.fields, f)
	}
	e.rows = func(v any) (rows [][]string) {
		list, _ := v.([]T)
		for i := range list {
			var row []string
			for _, part := range parts(&list[i]) {
				row = append(row, *part)
			}
			rows = append(rows, row)
		}
		return rows
	}
	e.elements = func(raw any, report reporter) any {
		var all []T
		if list, ours := raw.([]T); ours {
			raw = e.asTables(list)
		}
		e.readTables(raw, report, func(at string, texts map[string]string) {
			var one T
			for i, part := range parts(&one) {
				*part = texts[e.fields[i].Name()]
			}
			if name, want := wrong(&one, all); name != "" {
				report(at+"."+name, NotAllowed, cmp.Or(want, e.field(name).allowed()))
				return
			}
			all = append(all, one)
		})
		return all
	}
	return e
}

// field returns the field with a name, nil if there is none.
func (e *Entry) field(name string) *Entry { return entryOf(e.fields, e.Key+"."+name) }

// asTables converts a list to the TOML library's form.
func (e *Entry) asTables(v any) []any {
	all := []any{}
	for _, row := range e.rows(v) {
		one := map[string]any{}
		for i, f := range e.fields {
			one[f.Name()] = row[i]
		}
		all = append(all, one)
	}
	return all
}

// readTables reads each table's texts and passes them to take.
func (e *Entry) readTables(raw any, report reporter, take func(at string, texts map[string]string)) {
	var list []any
	switch l := raw.(type) {
	case []map[string]any:
		for _, m := range l {
			list = append(list, m)
		}
	case []any:
		list = l
	default:
		report(e.Key, WrongType, "tables, each beginning with [["+e.Key+"]]")
		return
	}
	if len(list) > maxList {
		report(e.Key, NotAllowed, fmt.Sprintf("at most %d", maxList))
		list = list[:maxList]
	}
	for i, x := range list {
		at := fmt.Sprintf("%s[%d]", e.Key, i+1)
		m, isTable := x.(map[string]any)
		if !isTable {
			report(at, WrongType, "a table")
			continue
		}
		if texts, good := e.readTable(at, m, report); good {
			take(at, texts)
		}
	}
}

func (e *Entry) readTable(at string, m map[string]any, report reporter) (texts map[string]string, good bool) {
	texts, good = map[string]string{}, true
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, isText := m[k].(string)
		most := 300
		if k == "extension" { // of each user
			most = maxLine
		}
		switch _, fits := freeText(most)(v); {
		case e.field(k) == nil:
			report(at+"."+k, UnknownKey, unknownKeyAdvice(k))
		case !isText:
			report(at+"."+k, WrongType, "a text in quotes")
			good = false
		case !fits:
			report(at+"."+k, NotAllowed, fmt.Sprintf("at most %d characters, on one line", most))
			good = false
		default:
			texts[k] = strings.TrimSpace(v)
		}
	}
	return texts, good
}

func (l *Line) validate([]Line) (field, want string) {
	if _, ok := numberText(l.Number); !ok {
		return "number", ""
	}
	return "", ""
}

// complete sets a missing name of a link, and returns what is wrong with it.
func (l *Softphone) complete(others []Softphone) (field, want string) {
	switch {
	case !registry.Of(l.Kind).IsLink():
		return "kind", ""
	case strings.Contains(l.Address, "@"):
		return "address", ""
	case !validExtension(l.Extension):
		return "extension", ""
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(others, func(o Softphone) bool { return o.Name == name })
	}
	if l.Name == "" {
		l.Name = l.Kind
		for i := 2; taken(l.Name); i++ {
			l.Name = fmt.Sprintf("%s-%d", l.Kind, i)
		}
	}
	if taken(l.Name) {
		return "name", "a name that no other link has"
	}
	return "", ""
}
