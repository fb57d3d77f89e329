//go:build linux

// Package manual generates man pages and shell completions for a command line, from its
// parser's model and its help texts. It has no state and no goroutines.
package manual

import (
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"wiebelt/internal/commandline"
	"wiebelt/internal/text"
)

var titles = map[text.Language]struct{ name, synopsis, description, options, commands string }{
	text.Dutch:   {"NAAM", "SAMENVATTING", "BESCHRIJVING", "OPTIES", "OPDRACHTEN"},
	text.English: {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"},
}

// Page returns the man page of a program and all its commands.
func Page(l text.Language, program *kong.Node, version string, day time.Time) []byte {
	t, p := titles[l], commandline.PageOf(l, program)
	w := &roff{}
	w.macro("TH", strings.ToUpper(program.Name), "1", day.Format("2006-01-02"), program.Name+" "+version, "")
	w.line(".ad l") // left-aligned: lines with long words are not stretched
	w.macro("SH", t.name)
	w.line(program.Name + ` \- ` + escape(strings.TrimSuffix(p.Summary, ".")))
	w.macro("SH", t.synopsis)
	w.macro("B", p.Usage)
	w.macro("SH", t.description)
	w.text(p.Summary + "\n\n" + p.About)
	w.macro("SH", t.options)
	w.rows(p.Flags)
	w.macro("SH", t.commands)
	each(program, func(n *kong.Node) {
		if n != program {
			p := commandline.PageOf(l, n)
			w.macro("SS", strings.TrimPrefix(p.Usage, program.Name+" "))
			w.text(p.Summary + "\n\n" + p.About)
			w.rows(append(p.Arguments, p.Flags...))
		}
	})
	return []byte(w.String())
}

// each visits a command and its subcommands, except hidden ones.
func each(n *kong.Node, visit func(*kong.Node)) {
	visit(n)
	for _, c := range n.Children {
		if !c.Hidden {
			each(c, visit)
		}
	}
}

type roff struct{ strings.Builder }

func (w *roff) line(s string) { w.WriteString(s + "\n") }

func (w *roff) macro(name string, args ...string) {
	for _, a := range args {
		name += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	w.line("." + name)
}

// text writes paragraphs; lines beginning with a space are kept as they are, and those with
// a tab are rows of a table.
func (w *roff) text(s string) {
	for line := range strings.Lines(strings.TrimSpace(s)) {
		line = strings.TrimRight(line, "\n")
		name, about, row := strings.Cut(line, "\t")
		switch {
		case row:
			w.rows([][2]string{{name, about}})
		case line == "":
			w.macro("PP")
		case strings.HasPrefix(line, " "):
			w.line(".nf\n" + escape(line) + "\n.fi")
		default:
			w.line(escape(line))
		}
	}
}

func (w *roff) rows(rows [][2]string) {
	for _, r := range rows {
		w.macro("TP")
		w.macro("B", r[0])
		w.line(escape(r[1]))
	}
}

// escape prevents text in a line from being taken for a request.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, ",\"", `,\:"`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
