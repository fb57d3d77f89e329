// Package commandline parses the command lines of our programs, with the parser's help
// and errors in the language of the run, from the catalogue of texts. It keeps no state;
// waiting for an answer at a terminal happens in a separate goroutine.
package commandline

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"wiebelt/internal/text"
)

// Parse parses a command line into commands, a struct with kong's tags; bound is passed
// to the command's Run. The error describes what is wrong with the line. If help was
// requested, it has been written, or out has the error, and the context is nil.
func Parse(commands any, program string, lang func() text.Language, out *Output, errOut io.Writer, args []string, bound ...any) (k *kong.Context, err error) {
	type left struct{ code int } // kong exits once help is written
	parse := func(commands any) (*kong.Context, error) {
		p, err := kong.New(commands, kong.Name(program), kong.Help(func(_ kong.HelpOptions, k *kong.Context) error { return help(lang(), out, k) }),
			kong.Writers(out, errOut), kong.Exit(func(code int) { panic(left{code}) }), kong.Bind(bound...))
		if err != nil {
			return nil, err
		}
		return p.Parse(args)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(left); !ok {
				panic(r)
			}
			k, err = nil, nil
		}
	}()
	if one, found := onlyCommand(commands, args); one != nil {
		if k, err = parse(one); err == nil {
			found()
			return k, nil
		}
	}
	k, err = parse(commands)
	switch {
	case err == nil:
		return k, nil
	case out.Err != nil: // the help could not be written
		return nil, nil
	}
	return nil, parserError(lang(), err)
}

// onlyCommand returns a struct like commands with only the command that args begin with and
// the global flags: preparing all the others takes longer than most commands run. found
// copies the result into commands. It returns nil if help is requested or a flag comes first.
func onlyCommand(commands any, args []string) (one any, found func()) {
	if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return nil, nil
	}
	var fields []reflect.StructField
	var values []reflect.Value
	named := false
	for f, v := range reflect.ValueOf(commands).Elem().Fields() {
		switch {
		case f.Anonymous:
			for flag, v := range v.Fields() {
				fields, values = append(fields, flag), append(values, v)
			}
		case args[0] == cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)):
			fields, values, named = append(fields, f), append(values, v), true
		}
	}
	if !named {
		return nil, nil
	}
	read := reflect.New(reflect.StructOf(fields))
	return read.Interface(), func() {
		for i, v := range values {
			v.Set(read.Elem().Field(i))
		}
	}
}

// Flag finds the value of a flag before the line is parsed, since the parser's help and
// errors need some of them too.
func Flag(args []string, name string) (value string, ok bool) {
	for i, a := range args {
		flag, tied, is := strings.Cut(a, "=")
		switch {
		case a == "--":
			return value, ok
		case flag == name && is:
			value, ok = tied, true
		case flag == name && i+1 < len(args):
			value, ok = args[i+1], true
		}
	}
	return value, ok
}

// HelpOf returns the help for a part of the command line: "deliver.list" is a command,
// "deliver.list --all" a flag or argument of it. If a flag has no text for the command, the
// group's is used; failing that, for any part, the one without a command. "" if there is none.
func HelpOf(l text.Language, command, part string) string {
	names := []string{strings.TrimSpace(command + " " + part), part}
	if strings.HasPrefix(part, "--") {
		group, _, _ := strings.Cut(command, ".")
		names = slices.Insert(names, 1, group+" "+part)
	}
	for _, name := range names {
		key := text.CommandHelp(name)
		if s := l.T(key); name != "" && s != string(key) {
			return s
		}
	}
	return ""
}

// longHelp is a command's long help, below its summary; a command with a default subcommand
// includes that one's too.
func longHelp(l text.Language, n *kong.Node) string {
	s := HelpOf(l, PathOf(n), "about")
	if c, ok := n.Target.Addr().Interface().(interface{ HelpAppendix(text.Language) string }); ok {
		s += "\n" + c.HelpAppendix(l)
	}
	if n.Parent != nil && n.DefaultCmd != nil {
		s += "\n\n" + longHelp(l, n.DefaultCmd)
	}
	return strings.Trim(s, "\n")
}

// PathOf returns a command's path with dots: "deliver.list", "" for Wiebelt itself. Paths
// of another program begin with its name.
func PathOf(n *kong.Node) string {
	switch {
	case n.Parent == nil && n.Name != "wiebelt":
		return n.Name
	case n.Parent == nil || n.Type != kong.CommandNode:
		return ""
	}
	return strings.Trim(PathOf(n.Parent)+"."+n.Name, ".")
}

// Placeholder returns the placeholder for a value in usage lines.
func Placeholder(l text.Language, name string) string {
	key := text.CommandPlace(name)
	if s := l.T(key); s != string(key) {
		return s
	}
	return name
}

// argumentUsage returns a positional argument as usage and help name it.
func argumentUsage(l text.Language, v *kong.Value) string {
	s := "<" + Placeholder(l, v.Name) + ">"
	if v.IsCumulative() {
		s += " …"
	}
	if !v.Required {
		s = "[" + s + "]"
	}
	return s
}

func flagUsage(l text.Language, f *kong.Flag) string {
	s := "--" + f.Name
	switch {
	case f.IsBool() && f.Tag.Negatable != "":
		return "--[no-]" + f.Name
	case f.IsBool():
		return s
	case f.PlaceHolder != "":
		return s + "=" + Placeholder(l, f.PlaceHolder)
	case f.Default != "":
		return s + "=" + f.Default
	}
	return s + "=" + strings.ToUpper(Placeholder(l, f.Name))
}

// Page has everything to say about a command, for its help or its section of a manual.
type Page struct {
	Usage, Summary, About string
	Arguments, Flags      [][2]string // each with its meaning
}

// PageOf returns the Page of a command.
func PageOf(l text.Language, n *kong.Node) Page {
	p := Page{Usage: n.FullPath() + " " + l.T(text.CommandFlags), Summary: HelpOf(l, cmp.Or(PathOf(n), n.Name), ""), About: longHelp(l, n)}
	for _, v := range n.Positional {
		p.Usage += " " + argumentUsage(l, v)
		p.Arguments = append(p.Arguments, [2]string{argumentUsage(l, v), HelpOf(l, PathOf(n), "<"+v.Name+">")})
	}
	if len(n.Children) > 0 {
		p.Usage += " <" + Placeholder(l, "command") + ">"
	}
	p.Flags = flagRows(l, n, n.Flags)
	return p
}

func flagRows(l text.Language, n *kong.Node, flags []*kong.Flag) (rows [][2]string) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := flagUsage(l, f)
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		rows = append(rows, [2]string{name, HelpOf(l, PathOf(n), "--"+f.Name)})
	}
	return rows
}

// Model returns the parser's model of commands, a struct with kong's tags.
func Model(commands any, program string) (*kong.Node, error) {
	k, err := kong.New(commands, kong.Name(program))
	if err != nil {
		return nil, err
	}
	return k.Model.Node, nil
}

// help writes the help of a command, or of the whole program.
func help(l text.Language, out io.Writer, ctx *kong.Context) error {
	n := ctx.Selected()
	if n == nil {
		n = ctx.Model.Node
	}
	w := &page{width: widthOf(out)}
	p := PageOf(l, n)
	w.line(l.T(text.CommandUsage, p.Usage))
	w.paragraphs(p.Summary)
	w.paragraphs(p.About)
	w.table(l.T(text.CommandArguments), p.Arguments)
	rows := p.Flags // its own first, the global ones last
	for above := n.Parent; above != nil; above = above.Parent {
		rows = append(rows, flagRows(l, n, above.Flags)...)
	}
	w.table(l.T(text.CommandFlagsTitle), rows)
	for _, group := range []string{"", "day", "admin", "try"} {
		var commands [][2]string
		for _, c := range n.Children {
			if same := group == "" && c.Group == nil || c.Group != nil && c.Group.Key == group; same && !c.Hidden {
				commands = append(commands, [2]string{c.Name, HelpOf(l, PathOf(c), "")})
			}
		}
		w.table(l.T(text.CommandGroup(group)), commands)
	}
	if len(n.Children) > 0 {
		w.line("")
		w.line(l.T(text.CommandMore, n.FullPath()))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// page is a page of help: wrapped lines; indented ones are kept.
type page struct {
	strings.Builder
	width int
}

func (w *page) line(s string) { w.WriteString(strings.TrimRight(s, " ") + "\n") }

// paragraphs writes a text; lines beginning with a space are kept, and those with a
// tab are rows of a table.
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

const maxLeftColumn = 30

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
		if n := utf8.RuneCountInString(r[0]); n <= maxLeftColumn {
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

// wrap breaks a text between words. An empty text is one empty line.
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

func widthOf(out io.Writer) int {
	const usual, most = 80, 110
	if f := Terminal(out); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return max(min(w, most), 2*maxLeftColumn)
		}
	}
	return usual
}

// Output remembers the first error of writing.
type Output struct {
	io.Writer
	Err error // the first one
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// parserMessages maps the parser's errors, which are in English, to ours.
var parserMessages = []struct {
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

// parserError translates an error of the parser.
func parserError(l text.Language, err error) *text.Error {
	said := err.Error()
	for _, p := range parserMessages {
		found := regexp.MustCompile(p.pattern).FindStringSubmatch(said)
		if found == nil {
			continue
		}
		var args []any
		for _, s := range found[1:] {
			args = append(args, translateNames(l, s))
		}
		switch p.key {
		case text.UsageArgument, text.UsageFlag:
			if found[2] != "" {
				return text.Errorf(p.key, args[0], text.Errorf(text.UsageMeant, args[1]))
			}
			return text.Errorf(p.key, args[0], "")
		}
		return text.Errorf(p.key, args...)
	}
	return text.Errorf(text.UsageWrong)
}

// translateNames translates the names of arguments in the parser's errors, and the
// words between several.
func translateNames(l text.Language, s string) string {
	s = regexp.MustCompile(`<[\w-]+>`).ReplaceAllStringFunc(s, func(n string) string { return "<" + Placeholder(l, strings.Trim(n, "<>")) + ">" })
	s = regexp.MustCompile(`(--[\w-]+)=(\S+)`).ReplaceAllStringFunc(s, func(n string) string {
		name, filled, _ := strings.Cut(n, "=")
		comma := ""
		if strings.HasSuffix(filled, ",") {
			filled, comma = filled[:len(filled)-1], ","
		}
		if un, err := strconv.Unquote(filled); err == nil {
			filled = un
		}
		return name + "=" + Placeholder(l, filled) + comma
	})
	s = strings.TrimSuffix(strings.ReplaceAll(s, `","`, `", "`), `, ""`) // "" only says that it may be left out
	return strings.ReplaceAll(s, " or ", l.T(text.UsageOr))
}
