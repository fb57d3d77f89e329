package register

import "strings"

// reserved has the characters that require quoting in an argument of Exec
// (Desktop Entry Specification, "The Exec key").
const reserved = " \t\n\"'\\><~|&;$*?#()`"

var quoted = strings.NewReplacer(`"`, `\"`, "`", "\\`", `$`, `\$`, `\`, `\\`)

// execLine formats the Exec value of a desktop file. A field code is a separate, unquoted
// argument: inside quotes its meaning is undefined.
func execLine(argv ...string) string {
	var all []string
	for _, a := range argv {
		if a == "%u" || a == "%f" {
			all = append(all, a)
			continue
		}
		a = strings.ReplaceAll(a, "%", "%%")
		if strings.ContainsAny(a, reserved) || a == "" {
			a = `"` + quoted.Replace(a) + `"`
		}
		// Escape again for the file, whose strings have their own escapes.
		all = append(all, strings.ReplaceAll(a, `\`, `\\`))
	}
	return strings.Join(all, " ")
}

var unquoted = strings.NewReplacer(`\"`, `"`, "\\`", "`", `\$`, `$`, `\\`, `\`)

// programOf returns the program of an Exec value, whose name contains no quotes.
func programOf(line string) string {
	line = strings.ReplaceAll(line, `\\`, `\`) // the escapes of the file
	name, _, _ := strings.Cut(line, " ")
	if rest, in := strings.CutPrefix(line, `"`); in {
		name, _, _ = strings.Cut(rest, `"`)
		name = unquoted.Replace(name)
	}
	return strings.ReplaceAll(name, "%%", "%")
}

// removeFromList removes a name from a list; the result is "" if nothing is left.
func removeFromList(list, name string) (rest string) {
	for v := range strings.SplitSeq(list, ";") {
		if v = strings.TrimSpace(v); v != "" && v != name {
			rest += v + ";"
		}
	}
	return rest
}

// setDefault makes id the default for a type in the text of a mimeapps.list, or, if enter is
// false, removes it there. The rest stays unchanged.
func setDefault(text, mime, id string, enter bool) string {
	const group = "[Default Applications]"
	var out []string
	in, done := false, !enter
	put := func() {
		if !done {
			out = append(out, mime+"="+id+";")
			done = true
		}
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			if in {
				put()
			}
			in = trimmed == group
		}
		key, value, found := strings.Cut(trimmed, "=")
		if in && found && strings.TrimSpace(key) == mime {
			if others := removeFromList(value, id); !enter && others != "" {
				out = append(out, mime+"="+others)
			}
			put()
			continue
		}
		out = append(out, strings.TrimSuffix(line, "\n"))
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
	if rest := strings.TrimSpace(strings.Join(out, "")); rest == "" || !enter && rest == group {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// defaultOf returns the default for a type, "" if there is none.
func defaultOf(text, mime string) string {
	first, _, _ := strings.Cut(keyOf(text, "[Default Applications]", mime), ";")
	return strings.TrimSpace(first)
}

func valueOf(text, key string) string { return keyOf(text, "[Desktop Entry]", key) }

// keyOf reads a key of a group, "" if it is missing.
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
