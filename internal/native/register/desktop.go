package register

import (
	"strings"
)

// reserved are the characters for which an argument of Exec must stand in
// quotes (Desktop Entry Specification, "The Exec key").
const reserved = " \t\n\"'\\><~|&;$*?#()`"

// execLine writes the value of a desktop file's Exec. A field code stands alone
// and without quotes: inside quotes its meaning is undefined.
func execLine(argv ...string) string {
	var all []string
	for _, a := range argv {
		if a == "%u" || a == "%f" {
			all = append(all, a)
			continue
		}
		a = strings.ReplaceAll(a, "%", "%%")
		if strings.ContainsAny(a, reserved) || a == "" {
			var b strings.Builder
			b.WriteByte('"')
			for _, r := range a {
				if strings.ContainsRune("\"`$\\", r) {
					b.WriteByte('\\')
				}
				b.WriteRune(r)
			}
			b.WriteByte('"')
			a = b.String()
		}
		// And once more for the file, whose strings know escapes of their own.
		all = append(all, strings.ReplaceAll(a, `\`, `\\`))
	}
	return strings.Join(all, " ")
}

// without takes a name out of a list, "" if nothing is left.
func without(list, name string) (rest string) {
	for v := range strings.SplitSeq(list, ";") {
		if v = strings.TrimSpace(v); v != "" && v != name {
			rest += v + ";"
		}
	}
	return rest
}

// setDefault makes id what a type is opened with in the text of a mimeapps.list;
// id "" takes it out where it is ours. The rest stays as it is.
func setDefault(text, mime, id, ours string) string {
	const group = "[Default Applications]"
	var out []string
	in, done := false, id == ""
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	put := func() {
		if !done {
			out = append(out, mime+"="+id+";")
			done = true
		}
	}
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			if in {
				put()
			}
			in = trimmed == group
		}
		key, value, found := strings.Cut(trimmed, "=")
		if in && found && strings.TrimSpace(key) == mime {
			if id == "" {
				if others := without(value, ours); others != "" {
					out = append(out, mime+"="+others)
				}
			} else {
				put()
			}
			continue
		}
		out = append(out, line)
	}
	if in {
		put()
	}
	if !done {
		if len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, "")
		}
		out = append(out, group)
		put()
	}
	if rest := strings.TrimSpace(strings.Join(out, "")); rest == "" || id == "" && rest == group {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// defaultOf reads what a type is opened with, "" for nothing.
func defaultOf(text, mime string) string {
	first, _, _ := strings.Cut(keyOf(text, "[Default Applications]", mime), ";")
	return strings.TrimSpace(first)
}

// valueOf reads a key of a desktop file's first group.
func valueOf(text, key string) string { return keyOf(text, "[Desktop Entry]", key) }

// keyOf reads a key of a group, "" where it is not there.
func keyOf(text, group, key string) string {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = line == group
			continue
		}
		if k, v, found := strings.Cut(line, "="); in && found && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
