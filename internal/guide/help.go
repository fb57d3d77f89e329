package guide

import (
	"io/fs"
	"strings"
	"sync"

	"wiebelt/assets"
	"wiebelt/internal/text"
)

// HelpPage is a page of the guide.
type HelpPage struct {
	ID    string // the same in both languages, such as "calls"
	Title string
	Admin bool   // for administrators
	Text  string // Markdown below the title: headings of level 2, lists, code, quotes
}

// adminFrom is the number from which pages are for administrators, except "messages",
// which users send too.
const adminFrom = "50"

var help = map[text.Language]func() []HelpPage{
	text.Dutch:   sync.OnceValue(func() []HelpPage { return readHelp(text.Dutch) }),
	text.English: sync.OnceValue(func() []HelpPage { return readHelp(text.English) }),
}

// Help returns the pages in order: those for everybody, then those for administrators. The
// slice is shared and read-only.
func Help(l text.Language) []HelpPage {
	if pages, ok := help[l]; ok {
		return pages()
	}
	return help[text.Dutch]()
}

func readHelp(l text.Language) []HelpPage {
	names, _ := fs.Glob(assets.Help, "guide/help/*."+string(l)+".md")
	var everybody, admins []HelpPage
	for _, n := range names {
		b, err := assets.Help.ReadFile(n)
		if err != nil {
			panic(err) // embedded: only a broken build gets here
		}
		name := strings.TrimSuffix(strings.TrimPrefix(n, "guide/help/"), "."+string(l)+".md")
		number, id, _ := strings.Cut(name, "-")
		title, body, _ := strings.Cut(string(b), "\n")
		body = strings.Replace(body, "{{troubles}}", troublesText(l), 1)
		p := HelpPage{ID: id, Title: strings.TrimPrefix(title, "# "), Text: strings.TrimSpace(body)}
		p.Admin = number >= adminFrom && id != "messages"
		if p.Admin {
			if _, rest, ok := strings.Cut(p.Title, ": "); ok { // the list shows for whom
				p.Title = strings.ToUpper(rest[:1]) + rest[1:]
			}
			admins = append(admins, p)
		} else {
			everybody = append(everybody, p)
		}
	}
	return append(everybody, admins...)
}

// troublesText lists what the doctor can find wrong and what to do about it.
func troublesText(l text.Language) string {
	var b strings.Builder
	for _, g := range text.DoctorTroubles {
		b.WriteString("## " + l.T(text.DoctorGroup(g.Group)) + "\n\n")
		for _, found := range g.Found {
			message, do := l.Trouble(found)
			b.WriteString("- **" + message + "** " + do + "\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}
