// Package guide reads the recipes of the embedded guide, which say how to connect a
// phone: one page per phone, with the exact text to paste. Ports, tokens and paths appear
// in them as {{places}} that are filled in when a page is shown, and nowhere else.
//
// A recipe is one text file per language (assets/guide/recipes/ID.LANGUAGE.txt):
//
//	title: MicroSIP
//	group: phone | any
//	tells: ring | end | all [sentence]
//	transfers: yes | no | unknown [sentence]
//	verified: run | source | vendor | others | none sentence
//
//	A paragraph.
//
//	1. A step.
//
//	``` kind What it is for
//	the text to paste, with {{places}}
//	```
//
// The package starts no goroutines, and its values are safe for concurrent use.
package guide

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wiebelt/assets"
	"wiebelt/internal/text"
)

// Group is a section of the list of recipes.
type Group string

// The groups.
const (
	GroupPhone Group = "phone" // a product
	GroupAny   Group = "any"   // a kind of phone, for those without a page
)

// ReportLevel is what a phone reports about a call when configured as in the recipe.
type ReportLevel string

// What phones report.
const (
	RingOnly   ReportLevel = "ring" // only one moment of the call
	RingAndEnd ReportLevel = "end"  // ringing and over
	AllStates  ReportLevel = "all"  // ringing, answered and over
)

// Transfers is whether the phone reports that a call was passed on.
type Transfers string

// Whether transfers are reported.
const (
	TransfersYes     Transfers = "yes"
	TransfersNo      Transfers = "no"
	TransfersUnknown Transfers = "unknown"
)

// Recipe is a page in one language. It is immutable.
type Recipe struct {
	ID          string // from the file name
	Title       string
	Group       Group
	ReportLevel ReportLevel
	Transfer    Transfers
	Verified    string // how, as in the file
	// Sentences that go with the three fields above; only the last is always set.
	ReportLevelNote, TransferNote, VerifiedNote string
	Parts                                       []Part
}

// Part is a paragraph, a numbered step or a block to paste.
type Part struct {
	Step  int    // its number; 0 for a paragraph or a block
	Text  string // of a paragraph or a step
	Block *Block // else nil
}

// Kind is the type of a block, which determines how it is checked.
type Kind string

// The kinds of blocks.
const (
	URL       Kind = "url"       // addresses on our listener, one per line
	Link      Kind = "link"      // a wiebelt: link
	Run       Kind = "run"       // a command line that the phone runs
	Program   Kind = "program"   // the path of our program alone
	Arguments Kind = "arguments" // what follows the program
	MicroSIP  Kind = "microsip"  // key=command line, in MicroSIP's syntax
	Twinkle   Kind = "twinkle"   // key=command line, split only at white space
	ActionURL Kind = "actionurl" // [event] and number=address
	Settings  Kind = "settings"  // for our settings file
	Message   Kind = "message"   // one message on the WebSocket per line
	Command   Kind = "command"   // something to type
	Text      Kind = "text"      // for another program's settings
)

// Block is text to paste.
type Block struct {
	Kind    Kind
	Caption string // what it is for
	Text    string // with places
}

// Blocks returns the blocks of a recipe in order.
func (r Recipe) Blocks() []Block {
	var all []Block
	for _, p := range r.Parts {
		if p.Block != nil {
			all = append(all, *p.Block)
		}
	}
	return all
}

var recipes = sync.OnceValue(func() map[text.Language][]Recipe {
	all := map[text.Language][]Recipe{}
	names, _ := fs.Glob(assets.Recipes, "guide/recipes/*.txt")
	for _, name := range names {
		b, _ := assets.Recipes.ReadFile(name) // embedded
		r := parse(string(b))
		id, language, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), ".")
		r.ID = id
		all[text.Language(language)] = append(all[text.Language(language)], r)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Recipe) int {
			return cmp.Or(cmp.Compare(b.Group, a.Group), // "phone" before "any"
				cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)))
		})
	}
	return all
})

// All returns the recipes in a language: phones sorted by name, then the kinds of phones.
func All(l text.Language) []Recipe { return slices.Clone(recipes()[l]) }

// Suggest returns the ids of recipes that a mistyped name may mean.
func Suggest(l text.Language, name string) (ids []string) {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) < 2 {
		return nil
	}
	for _, r := range All(l) {
		if strings.Contains(r.ID, name) || strings.Contains(name, r.ID) || strings.Contains(strings.ToLower(r.Title), name) || strings.HasPrefix(r.ID, name[:2]) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Find returns the recipe with an id.
func Find(l text.Language, id string) (Recipe, bool) {
	all := All(l)
	i := slices.IndexFunc(all, func(r Recipe) bool { return r.ID == strings.ToLower(id) })
	if i < 0 {
		return Recipe{}, false
	}
	return all[i], true
}

const fence = "```"

// parse reads a recipe. A test checks that each is complete and well-formed.
func parse(s string) (r Recipe) {
	head, body, _ := strings.Cut(s, "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		r.parseHead(line)
	}
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	open := false // the next line goes on with the last part
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch n, step, isStep := stepOf(line); {
		case line == "":
			open = false
		case strings.HasPrefix(line, fence):
			kind, caption, _ := strings.Cut(strings.TrimPrefix(line, fence+" "), " ")
			end := i + 1 + slices.Index(lines[i+1:], fence)
			r.Parts = append(r.Parts, Part{Block: &Block{Kind(kind), caption, strings.Join(lines[i+1:end], "\n")}})
			i, open = end, false
		case isStep:
			r.Parts = append(r.Parts, Part{Step: n, Text: step})
			open = true
		case open:
			r.Parts[len(r.Parts)-1].Text += " " + strings.TrimSpace(line)
		default:
			r.Parts = append(r.Parts, Part{Text: line})
			open = true
		}
	}
	return r
}

func (r *Recipe) parseHead(line string) {
	key, value, _ := strings.Cut(line, ": ")
	word, note, _ := strings.Cut(value, " ")
	switch key {
	case "title":
		r.Title = value
	case "group":
		r.Group = Group(value)
	case "tells":
		r.ReportLevel, r.ReportLevelNote = ReportLevel(word), note
	case "transfers":
		r.Transfer, r.TransferNote = Transfers(word), note
	case "verified":
		r.Verified, r.VerifiedNote = word, note
	}
}

// stepOf parses a line such as "3. What to do".
func stepOf(line string) (n int, rest string, ok bool) {
	number, rest, ok := strings.Cut(line, ". ")
	if !ok || len(number) > 2 {
		return 0, "", false
	}
	n, err := strconv.Atoi(number)
	return n, rest, err == nil
}
