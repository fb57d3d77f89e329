package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

// lang is the one language of this run: as --language says, else as the settings
// of the profile do, else the system's. It is found out when there is something
// to say, which a ringing phone's command seldom has.
func (e *env) lang() text.Language {
	if e.language == "" {
		s := settings.Defaults()
		if d, err := profile.Find(e.profileDir); err == nil && !ring.Elsewhere(e.profileDir) {
			s, _ = settings.Load(d) // what is wrong in them is said by who uses them
		}
		e.language = fromsettings.Language(s)
	}
	return e.language
}

// say writes a line for people on standard output, note one on standard error.
func (e *env) say(key text.Key, args ...any) { fmt.Fprintln(e.out, e.T(key, args...)) }

func (e *env) note(key text.Key, args ...any) { fmt.Fprintln(e.err, "wiebelt:", e.T(key, args...)) }

// T is a text in the language of the run; arguments that are errors or keys are
// put into it, too.
func (e *env) T(key text.Key, args ...any) string { return e.tell(text.Errorf(key, args...)) }

// tell is an error in the language of the run, on one line.
func (e *env) tell(err error) string {
	if bad, ok := errors.AsType[*settings.Error](err); ok {
		return oneLine(templates.Say(e.lang(), bad.Problem))
	}
	return oneLine(e.lang().Error(err))
}

// fail is an error that ends the command with an exit code, in the language of
// the run.
func fail(code int, key text.Key, args ...any) error {
	return &failure{code, text.Errorf(key, args...)}
}

// wrong is fail for a command line that is not as it should be.
func wrong(key text.Key, args ...any) error { return fail(exitUsage, key, args...) }

// failure is an error with an exit code; without an error nothing is said.
type failure struct {
	code int
	error
}

func (f *failure) Error() string {
	if f.error == nil {
		return ""
	}
	return f.error.Error()
}

func (f *failure) Unwrap() error { return f.error }

// ahead reads from a command line what decides about language and place before
// it is parsed: help and errors of the parser are in the language of the run, too.
func (e *env) ahead(args []string) {
	for i, a := range args {
		if a == "--" {
			return
		}
		name, value, tied := strings.Cut(a, "=")
		if !tied && i+1 < len(args) {
			value = args[i+1]
		}
		switch l := text.Language(value); {
		case name == "--profile":
			e.profileDir = value
		case name == "--language" && (l == text.Dutch || l == text.English):
			e.language = l
		}
	}
}

// helpOf is the help for a part of the command line: "deliver.list" is a command,
// "deliver.list --all" a flag or argument of it. What many commands have is
// looked for without the command. "" if there is none.
func helpOf(l text.Language, command, part string) string {
	for _, name := range []string{strings.TrimSpace(command + " " + part), part} {
		key := text.CommandHelp(name)
		if s := l.T(key); name != "" && s != string(key) {
			return s
		}
	}
	return ""
}

// longHelp is what a command says at length below its summary; the one that is
// meant where none is named says its own, too.
func longHelp(l text.Language, n *kong.Node) string {
	s := helpOf(l, pathOf(n), "about")
	if c, ok := n.Target.Addr().Interface().(interface{ also(text.Language) string }); ok {
		s += "\n" + c.also(l)
	}
	if n.Parent != nil && n.DefaultCmd != nil {
		s += "\n\n" + longHelp(l, n.DefaultCmd)
	}
	return strings.Trim(s, "\n")
}

// pathOf is a command's path with dots: "deliver.list", "" for the program.
func pathOf(n *kong.Node) string {
	if n.Parent == nil || n.Type != kong.CommandNode {
		return ""
	}
	return strings.Trim(pathOf(n.Parent)+"."+n.Name, ".")
}

// place is a name that stands for what has to be filled in.
func place(l text.Language, name string) string {
	key := text.CommandPlace(name)
	if s := l.T(key); s != string(key) {
		return s
	}
	return name
}

// argument is a positional argument as usage and help name it.
func argument(l text.Language, v *kong.Value) string {
	s := "<" + place(l, v.Name) + ">"
	if v.IsCumulative() {
		s += " …"
	}
	if !v.Required {
		s = "[" + s + "]"
	}
	return s
}

// flagged is a flag with what belongs behind it.
func flagged(l text.Language, f *kong.Flag) string {
	s := "--" + f.Name
	switch {
	case f.IsBool() && f.Tag.Negatable != "":
		return "--[no-]" + f.Name
	case f.IsBool():
		return s
	case f.PlaceHolder != "":
		return s + "=" + place(l, f.PlaceHolder)
	case f.Default != "":
		return s + "=" + f.Default
	}
	return s + "=" + strings.ToUpper(place(l, f.Name))
}

// printHelp writes the help of a command, or of all, in the language of the run.
func (e *env) printHelp(_ kong.HelpOptions, ctx *kong.Context) error {
	l, n := e.lang(), ctx.Selected()
	if n == nil {
		n = ctx.Model.Node
	}
	w := &page{width: widthOf(e.out)}
	use := n.FullPath() + " " + l.T(text.CommandFlags)
	for _, p := range n.Positional {
		use += " " + argument(l, p)
	}
	if len(n.Children) > 0 {
		use += " <" + place(l, "command") + ">"
	}
	w.line(l.T(text.CommandUsage, use))
	about := pathOf(n)
	if n.Parent == nil {
		about = "wiebelt"
	}
	w.paragraphs(helpOf(l, about, ""))
	w.paragraphs(longHelp(l, n))
	var rows [][2]string
	for _, p := range n.Positional {
		rows = append(rows, [2]string{argument(l, p), helpOf(l, pathOf(n), "<"+p.Name+">")})
	}
	w.table(l.T(text.CommandArguments), rows)
	rows = nil
	levels := n.AllFlags(true)
	for _, level := range slices.Backward(levels) { // its own first, those of every command last
		for _, f := range level {
			name := flagged(l, f)
			if f.Short != 0 {
				name = "-" + string(f.Short) + ", " + name
			}
			rows = append(rows, [2]string{name, helpOf(l, pathOf(n), "--"+f.Name)})
		}
	}
	w.table(l.T(text.CommandFlagsTitle), rows)
	commands := func(group string) (rows [][2]string) {
		for _, c := range n.Children {
			if key := ""; !c.Hidden {
				if c.Group != nil {
					key = c.Group.Key
				}
				if key == group {
					rows = append(rows, [2]string{c.Name, helpOf(l, pathOf(c), "")})
				}
			}
		}
		return rows
	}
	for _, group := range []string{"", "day", "admin", "try"} {
		w.table(l.T(text.CommandGroup(group)), commands(group))
	}
	if len(n.Children) > 0 {
		w.line("")
		w.line(l.T(text.CommandMore, n.FullPath()))
	}
	_, err := io.WriteString(e.out, w.String())
	return err
}

// page is a page of help: lines that fit, and what is indented as it is.
type page struct {
	strings.Builder
	width int
}

func (w *page) line(s string) { w.WriteString(strings.TrimRight(s, " ") + "\n") }

// paragraphs writes a text; its lines that begin with a space are kept, and those
// with a tab are rows of a table.
func (w *page) paragraphs(s string) {
	if s == "" {
		return
	}
	w.line("")
	var rows [][2]string
	for para := range strings.Lines(strings.Trim(s, "\n")) {
		para = strings.TrimRight(para, "\n")
		if name, about, row := strings.Cut(para, "\t"); row {
			rows = append(rows, [2]string{name, about})
			continue
		}
		if strings.HasPrefix(para, " ") {
			w.line(para)
			continue
		}
		for _, l := range wrap(para, w.width) {
			w.line(l)
		}
	}
	w.rows(rows)
}

// column is the widest left column that has text beside it.
const column = 30

func (w *page) table(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	w.line("")
	w.line(title)
	w.rows(rows)
}

func (w *page) rows(rows [][2]string) {
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= column {
			left = max(left, n)
		}
	}
	for _, r := range rows {
		beside := wrap(r[1], w.width-left-4)
		if utf8.RuneCountInString(r[0]) > left {
			w.line("  " + r[0])
			r[0] = ""
		}
		for i, s := range beside {
			if i > 0 {
				r[0] = ""
			}
			w.line(fmt.Sprintf("  %-*s  %s", left, r[0], s))
		}
	}
}

// wrap breaks a text between words. An empty one is one empty line.
func wrap(s string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// widthOf is how wide a line may be.
func widthOf(out io.Writer) int {
	const usual, most = 80, 110
	for {
		switch o := out.(type) {
		case *output:
			out = o.Writer
			continue
		case *os.File:
			if w, _, err := term.GetSize(int(o.Fd())); err == nil && w > 0 {
				return max(min(w, most), 2*column)
			}
		}
		return usual
	}
}

// output notes whether what was written arrived.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// parserSays are the errors of the parser, which are English, and ours for them.
var parserSays = []struct {
	pattern string
	key     text.Key
}{
	{`^unexpected argument (.+?)(?:, did you mean (?:one of )?(.+)\?)?$`, text.UsageArgument},
	{`^unknown flag (\S+?)(?:, did you mean (?:one of )?(.+)\?)?$`, text.UsageFlag},
	{`^missing flags: (.+)$`, text.UsageMissing},
	{`^expected (?:one of )?("?.+)$`, text.UsageExpected},
	{`^(\S+) must be one of (.+) but got (.+)$`, text.UsageOneOf},
	{`^(--\S+) and (--\S+) can't be used together$`, text.UsageTogether},
	{`^(--\S+): expected duration but got "?(.*?)"?(?::.*)?$`, text.UsageDuration},
	{`^(--\S+): expected a(?:n| valid \d+ bit u?)? ?(?:int|float) but got "(.*?)".*$`, text.UsageNumber},
	{`^(--\S+): expected \w+ value but got .*$`, text.UsageNoValue},
	{`^(--\S+): missing value.*$`, text.UsageNoValue},
	{`^(--\S+): bool value must be .*$`, text.UsageNothingBehind},
}

// parserError puts an error of the parser into the language of the run.
func (e *env) parserError(err error) error {
	if o, ok := e.out.(*output); ok && o.err != nil {
		return text.Errorf(text.ErrorOutput, o.err) // the help did not arrive
	}
	l, said := e.lang(), err.Error()
	for _, p := range parserSays {
		found := regexp.MustCompile(p.pattern).FindStringSubmatch(said)
		if found == nil {
			continue
		}
		var args []any
		for _, s := range found[1:] {
			args = append(args, names(l, s))
		}
		switch p.key {
		case text.UsageArgument, text.UsageFlag:
			if found[2] != "" {
				return wrong(p.key, args[0], text.Errorf(text.UsageMeant, args[1]))
			}
			return wrong(p.key, args[0], "")
		}
		return wrong(p.key, args...)
	}
	return wrong(text.UsageWrong)
}

// names puts the names of arguments in what the parser says into a language, and
// the words between several.
func names(l text.Language, s string) string {
	s = regexp.MustCompile(`<[\w-]+>`).ReplaceAllStringFunc(s, func(n string) string { return "<" + place(l, strings.Trim(n, "<>")) + ">" })
	s = regexp.MustCompile(`(--[\w-]+)=(\S+)`).ReplaceAllStringFunc(s, func(n string) string {
		name, filled, _ := strings.Cut(n, "=")
		comma := ""
		if strings.HasSuffix(filled, ",") {
			filled, comma = filled[:len(filled)-1], ","
		}
		if un, err := strconv.Unquote(filled); err == nil {
			filled = un
		}
		return name + "=" + place(l, filled) + comma
	})
	s = strings.TrimSuffix(strings.ReplaceAll(s, `","`, `", "`), `, ""`) // "" only says that it may be left out
	return strings.ReplaceAll(s, " or ", l.T(text.UsageOr))
}
