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
	"errors"
	"fmt"
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

// Verified is how a recipe was verified, best first.
type Verified string

// How recipes were verified.
const (
	VerifiedRun    Verified = "run"    // with the real program
	VerifiedSource Verified = "source" // in its source, or the vendor's own sample
	VerifiedVendor Verified = "vendor" // in the vendor's documentation
	VerifiedOthers Verified = "others" // only in what other users and programs do
	VerifiedNone   Verified = "none"
)

// Recipe is a page in one language. It is immutable.
type Recipe struct {
	ID          string // from the file name
	Title       string
	Group       Group
	ReportLevel ReportLevel
	Transfer    Transfers
	Verified    Verified
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

var kinds = []Kind{URL, Link, Run, Program, Arguments, MicroSIP, Twinkle, ActionURL, Settings, Message, Command, Text}

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

var recipes = sync.OnceValues(func() (map[text.Language][]Recipe, error) {
	all := map[text.Language][]Recipe{}
	err := fs.WalkDir(assets.Recipes, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		id, lang, ok := strings.Cut(strings.TrimSuffix(path.Base(p), ".txt"), ".")
		if !ok || lang != string(text.Dutch) && lang != string(text.English) {
			return fmt.Errorf("%s: not of the form ID.LANGUAGE.txt", p)
		}
		b, err := assets.Recipes.ReadFile(p)
		if err != nil {
			return err
		}
		r, err := parse(string(b))
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		r.ID = id
		all[text.Language(lang)] = append(all[text.Language(lang)], r)
		return nil
	})
	for _, list := range all {
		slices.SortFunc(list, func(a, b Recipe) int {
			return cmp.Or(cmp.Compare(b.Group, a.Group), // "phone" before "any"
				cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)))
		})
	}
	return all, err
})

// All returns the recipes in a language: phones sorted by name, then the kinds of phones.
func All(l text.Language) []Recipe {
	all, err := recipes()
	if err != nil {
		panic(err) // embedded: only a broken build gets here
	}
	return slices.Clone(all[l])
}

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

func parse(s string) (Recipe, error) {
	var r Recipe
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	i := 0
	for ; i < len(lines) && lines[i] != ""; i++ {
		if err := r.parseHead(lines[i]); err != nil {
			return r, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := r.checkComplete(); err != nil {
		return r, err
	}
	steps, open := 0, false // open: the next line goes on with the last part
	for ; i < len(lines); i++ {
		line := lines[i]
		switch n, step, isStep := stepOf(line); {
		case line == "":
			open = false
		case strings.HasPrefix(line, fence):
			b, next, err := parseBlock(lines, i)
			if err != nil {
				return r, fmt.Errorf("line %d: %w", i+1, err)
			}
			r.Parts = append(r.Parts, Part{Block: &b})
			i, open = next, false
		case isStep:
			if steps++; n != steps {
				return r, fmt.Errorf("line %d: step %d should be %d", i+1, n, steps)
			}
			r.Parts = append(r.Parts, Part{Step: n, Text: step})
			open = true
		case open:
			r.Parts[len(r.Parts)-1].Text += " " + strings.TrimSpace(line)
		default:
			r.Parts = append(r.Parts, Part{Text: line})
			open = true
		}
	}
	if len(r.Blocks()) == 0 {
		return r, errors.New("nothing to paste")
	}
	for _, p := range r.Parts { // tokens and paths belong in blocks, which are checked
		for _, name := range placeholdersIn(p.Text) {
			if name != "settings" {
				return r, fmt.Errorf("place %q outside of a block", name)
			}
		}
	}
	return r, nil
}

func (r *Recipe) parseHead(line string) error {
	key, value, ok := strings.Cut(line, ": ")
	if !ok {
		return errors.New("not of the form key: value")
	}
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
		r.Verified, r.VerifiedNote = Verified(word), note
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

func (r *Recipe) checkComplete() error {
	switch {
	case r.Title == "":
		return errors.New("no title")
	case !slices.Contains([]Group{GroupPhone, GroupAny}, r.Group):
		return errors.New("group is phone or any")
	case !slices.Contains([]ReportLevel{RingOnly, RingAndEnd, AllStates}, r.ReportLevel):
		return errors.New("tells is ring, end or all")
	case !slices.Contains([]Transfers{TransfersYes, TransfersNo, TransfersUnknown}, r.Transfer):
		return errors.New("transfers is yes, no or unknown")
	case !slices.Contains([]Verified{VerifiedRun, VerifiedSource, VerifiedVendor, VerifiedOthers, VerifiedNone}, r.Verified) || r.VerifiedNote == "":
		return errors.New("verified is run, source, vendor, others or none, and a sentence")
	}
	return nil
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

// parseBlock reads the block that begins at line i, and also returns the line where it ends.
func parseBlock(lines []string, i int) (Block, int, error) {
	kind, caption, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(lines[i], fence)), " ")
	b := Block{Kind: Kind(kind), Caption: caption}
	if !slices.Contains(kinds, b.Kind) {
		return b, i, fmt.Errorf("unknown kind of block %q", kind)
	}
	if caption == "" {
		return b, i, errors.New("a block says what it is for")
	}
	end := slices.Index(lines[i+1:], fence)
	if end < 1 {
		return b, i, errors.New("a block without text or end")
	}
	b.Text = strings.Join(lines[i+1:i+1+end], "\n")
	for _, p := range placeholdersIn(b.Text) {
		if _, known := placeholders[p]; !known {
			return b, i, fmt.Errorf("unknown place %q", p)
		}
	}
	return b, i + 1 + end, nil
}
