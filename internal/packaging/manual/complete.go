//go:build linux

package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"wiebelt/internal/commandline"
	"wiebelt/internal/text"
)

// Completions has the files with which shells complete a program's commands and flags.
type Completions struct{ Bash, Zsh, Fish []byte }

// word is a command or a flag, with its meaning.
type word struct{ name, dutch, english string }

// The files begin by determining the command of a line.
const (
	bashHead = `# Completes %[1]s; made from its command line.
%[2]s() {
  local at= w words
  for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    w=${at:+$at }$w
    case $w in %[3]s) at=$w ;; esac
  done
  case $at in
`
	bashTail = `  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F %[2]s %[1]s
`
	zshHead = `#compdef %[1]s
# Made from its command line.
local at= w
local -a nl en
for w in "${(@)words[2,CURRENT-1]}"; do
  w=${at:+$at }$w
  case $w in %[3]s) at=$w ;; esac
done
case $at in
`
	zshTail = `esac
[[ ${LC_ALL:-${LC_MESSAGES:-$LANG}} == nl* ]] || nl=("${en[@]}")
_describe %[1]s nl || _files
`
	fishHead = `# Completes %[1]s; made from its command line.
function %[2]s_at
  set -l at
  set -l line (commandline -opc)
  for w in $line[2..-1]
    set -l next (string trim -- "$at $w")
    contains -- $next %[3]s; and set at $next
  end
  test "$at" = "$argv[1]"
end
function %[2]s_says
  string match -q 'nl*' -- "$LC_ALL$LC_MESSAGES$LANG"; and echo $argv[1]; or echo $argv[2]
end
`
	fishWord = "complete -c %[1]s -n '%[2]s_at \"%[3]s\"' %[4]s -d (%[2]s_says %[5]s %[6]s)\n"
)

// Complete generates the files.
func Complete(program *kong.Node) Completions {
	var bash, zsh, fish strings.Builder
	name, function := program.Name, "_"+strings.ReplaceAll(program.Name, "-", "_")
	var paths []string
	all := map[string][]word{}
	each(program, func(n *kong.Node) {
		path := strings.TrimPrefix(strings.TrimPrefix(n.FullPath(), name), " ")
		paths = append(paths, path)
		all[path] = words(n)
	})
	known := `"` + strings.Join(paths[1:], `"|"`) + `"`
	fmt.Fprintf(&bash, bashHead, name, function, known)
	fmt.Fprintf(&zsh, zshHead, name, function, known)
	fmt.Fprintf(&fish, fishHead, name, function, strings.ReplaceAll(known, "|", " "))
	for _, path := range paths {
		var names, nl, en []string
		for _, w := range all[path] {
			names, nl, en = append(names, w.name), append(nl, shellQuote(w.name+":"+w.dutch)), append(en, shellQuote(w.name+":"+w.english))
			kind := "-a " + w.name
			if flag, is := strings.CutPrefix(w.name, "--"); is {
				kind = "-l " + flag
			}
			fmt.Fprintf(&fish, fishWord, name, function, path, kind, shellQuote(w.dutch), shellQuote(w.english))
		}
		fmt.Fprintf(&bash, "    %q) words=%s ;;\n", path, shellQuote(strings.Join(names, " ")))
		fmt.Fprintf(&zsh, "  %q) nl=(%s)\n    en=(%s) ;;\n", path, strings.Join(nl, " "), strings.Join(en, " "))
	}
	fmt.Fprintf(&bash, bashTail, name, function)
	fmt.Fprintf(&zsh, zshTail, name)
	return Completions{[]byte(bash.String()), []byte(zsh.String()), []byte(fish.String())}
}

// words returns what may follow a command: its subcommands, its flags and
// those of its parents.
func words(n *kong.Node) (all []word) {
	for _, c := range n.Children {
		if !c.Hidden {
			all = append(all, meaning(c.Name, commandline.PathOf(c), ""))
		}
	}
	for _, level := range n.AllFlags(true) {
		for _, f := range level {
			all = append(all, meaning("--"+f.Name, commandline.PathOf(n), "--"+f.Name))
		}
	}
	return all
}

// meaning returns a word with the first sentence of its help.
func meaning(name, path, part string) word {
	says := func(l text.Language) string {
		first, _, _ := strings.Cut(strings.ReplaceAll(commandline.HelpOf(l, path, part), "\n", " "), ". ")
		return strings.TrimSuffix(first, ".")
	}
	return word{name, says(text.Dutch), says(text.English)}
}

// shellQuote quotes s as one word for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
