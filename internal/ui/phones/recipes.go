// Package phones is the window that shows how to connect a telephone, with a recipe for
// each, and the state of every source of calls.
//
// The values in the recipes, including tokens, are read at every opening and whenever the
// sources of calls change, off Fyne's thread, and held no longer than the window; the Host
// holds the state of the sources. Everything belongs to Fyne's thread.
package phones

import (
	"context"
	"reflect"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const phonesWidth = 232 // of the list of phones

// window shows how to connect a phone: the list of phones on the left, the
// chosen page on the right.
type window struct {
	host        *widgets.Host
	win         fyne.Window
	all         []guide.Recipe
	items       []widgets.SideItem // what the list shows
	list        *widgets.List
	shown       string             // ID of the recipe shown
	localValues *localValues       // nil until read
	end         context.CancelFunc // cancels the last reading
	wasTaken    bool               // whether the listener's port was taken when the page was created
	blocks      []*pasteBlock      // of the page
	scroll      *container.Scroll  // around the page
	pages       *fyne.Container    // holds the page
	states      *widgets.Rows      // of the page: the state of its sources
}

// localValues are this computer's values in the recipes, and what keeps them from working.
type localValues struct {
	values guide.Values
	broken bool // the tokens cannot be read
	set    *settings.Settings
}

// Open opens the window and reads the values for the recipes.
func Open(host *widgets.Host) widgets.Page {
	w := &window{host: host, all: guide.All(host.Lang), pages: container.NewStack(), end: func() {}}
	l := host.Lang
	w.items = []widgets.SideItem{{ID: sourcesPage, Title: l.T(text.SourcesTitle), Group: l.T(text.SourcesHere)}}
	for _, r := range w.all {
		group := l.T(widgets.Either(r.Group == guide.GroupAny, text.RecipesAny, text.RecipesPhones))
		w.items = append(w.items, widgets.SideItem{ID: r.ID, Title: r.Title, Group: group})
	}
	var side fyne.CanvasObject
	w.list, side = widgets.NewSide(w, l.T(text.RecipesTitle), w.items)
	w.scroll = container.NewVScroll(w.pages)
	w.win = host.Window(text.RecipesTitle, container.New(widgets.SideLayout(phonesWidth), side, widgets.NewPane(l.T(text.RecipesTitle), w.scroll)), fyne.NewSize(720, 688))
	first := sourcesPage
	if old, ok := host.Page(windowapi.WindowRecipes).(*window); ok { // the same in another language
		old.end()
		first = old.shown
	}
	w.Choose(first)
	w.read()
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// Closed implements widgets.Page's closer.
func (w *window) Closed() { w.end() }

// read reads the values for the pages. A page that is still correct stays, including
// a token shown on it.
func (w *window) read() {
	w.end()
	host := w.host
	w.end = host.Work(func(_ context.Context, post func(func())) {
		s := host.Settings()
		v, err := fromsettings.RecipeValues(host.Dirs, s, host.Program.ProfileDir)
		if err != nil {
			host.Log.Error("the listener's tokens", "why", err)
		}
		post(func() {
			if now := (&localValues{v, err != nil, s}); !reflect.DeepEqual(w.localValues, now) {
				w.localValues = now
				w.page()
			}
		})
	})
}

// ShowAt shows the page of a phone.
func (w *window) ShowAt(id string) { w.Choose(id) }

// Choose shows the page of another phone.
func (w *window) Choose(id string) {
	if id == "" || id == w.shown {
		return
	}
	w.shown = id
	w.host.Send(windowapi.KindSources, nil)
	w.list.Refresh()
	w.page()
	w.scroll.ScrollToTop()
}

func (w *window) page() {
	w.blocks, w.states = nil, nil
	var content fyne.CanvasObject = container.NewWithoutLayout() // until there is an answer
	switch {
	case w.shown == sourcesPage:
		content = w.overview()
	case w.localValues == nil:
	case w.localValues.broken:
		l := w.host.Lang
		content = widgets.EmptyPage(l.T(text.RecipesBroken), nil, l.T(text.RecipesBrokenHint, l.Support(w.localValues.set.Support.Contact)))
	default:
		i := slices.IndexFunc(w.all, func(r guide.Recipe) bool { return r.ID == w.shown })
		content = w.recipe(w.all[i])
	}
	widgets.Fill(w.pages, content)
}

func (w *window) recipe(r guide.Recipe) fyne.CanvasObject {
	l, v := w.host.Lang, w.localValues.values
	w.states = widgets.NewRows(l.T(text.SourcesTitle), 8, w.scroll)
	w.fillStates()
	page := widgets.Column(12,
		widgets.Column(8,
			widgets.Title(r.Title),
			widgets.Column(4,
				widgets.Fact(l.T(text.RecipesReports), r.ReportLevelText(l)),
				widgets.Fact(l.T(text.RecipesTransfers), r.TransfersText(l)),
				widgets.Fact(l.T(text.RecipesVerified), r.VerifiedNote))),
		w.states)
	if s := w.trouble(r); s != "" {
		page.Add(widgets.Trouble(s))
	}
	page.Add(widget.NewSeparator())
	secret := false
	for _, p := range r.Parts {
		switch {
		case p.Block != nil:
			b := newPasteBlock(w, *p.Block, v)
			w.blocks = append(w.blocks, b)
			page.Add(widgets.Padded(0, 4, widgets.StepWidth, 0, b.object))
			secret = secret || p.Block.HasToken()
		case p.Step > 0:
			page.Add(step(p.Step, v.FillText(p.Text)))
		default:
			page.Add(widgets.BodyText(v.FillText(p.Text)))
		}
	}
	if secret {
		page.Add(widgets.Paragraph(l.T(text.RecipesSecret)))
	}
	return widgets.OnPage(page)
}

// trouble returns why a recipe's addresses do not work now, "" if they do.
func (w *window) trouble(r guide.Recipe) string {
	var listener, http bool
	for _, b := range r.Blocks() {
		l, h := b.Needs()
		listener, http = listener || l, http || h
	}
	l, f := w.host.Lang, w.localValues
	switch {
	case listener && !f.set.Listener.Enabled:
		return l.T(text.RecipesOff)
	case listener && w.portTaken():
		return l.T(text.RecipesPort, f.values.Port)
	case http && !f.set.Listener.HTTP:
		return l.T(text.RecipesHTTP)
	}
	return ""
}

func (w *window) portTaken() bool {
	return w.host.Sources != nil && slices.ContainsFunc(w.host.Sources.Sources, func(s windowapi.SourceState) bool { return s.Phase == windowapi.SourcePortTaken })
}

func step(n int, s string) fyne.CanvasObject {
	number := widgets.NewTextLine(strconv.Itoa(n), base.SizeNameText, base.ColorNamePrimary, true)
	return container.New(widgets.Columns(widgets.StepWidth), container.NewVBox(number), widgets.BodyText(s))
}

// pasteBlock is a framed text to paste, with its purpose above it and buttons to copy
// it and to show its token.
type pasteBlock struct {
	w             *window
	block         guide.Block
	values        guide.Values
	open          bool // tokens are visible
	text          *widget.Label
	copying, show *widgets.Button // show is nil without a token
	object        fyne.CanvasObject
}

func newPasteBlock(w *window, b guide.Block, v guide.Values) *pasteBlock {
	p := &pasteBlock{w: w, block: b, values: v, text: widget.NewLabel("")}
	l := w.host.Lang
	p.text.Wrapping = fyne.TextWrapWord // addresses without spaces still break
	p.text.SizeName = theme.SizeHint
	caption := widgets.Caption(v.FillText(b.Caption))
	full, err := b.Fill(v)
	if err != nil {
		p.text.SetText(guide.ExplainError(l, err))
		p.text.Importance = widget.WarningImportance
		p.object = widgets.NewFrame(widgets.Column(0, widgets.Padded(12, 0, 12, 12, caption), widgets.Padded(0, 4, 4, 4, p.text)), true)
		return p
	}
	p.text.TextStyle.Monospace = true
	p.copying = w.host.CopyButton(text.RecipesCopy, text.RecipesCopied, func() string { return full })
	p.copying.Subject = v.FillText(b.Caption)
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(4))
	if b.HasToken() {
		p.show = widgets.NewButton(l.T(text.RecipesShow), p.toggle)
		p.show.Importance, p.show.Subject = widget.LowImportance, p.copying.Subject
		buttons.Add(p.show)
	}
	// Wide enough for both labels, so that nothing moves after use.
	both := max(p.copying.MinSize().Width, widgets.NewButton(l.T(text.RecipesCopied), nil).MinSize().Width)
	buttons.Add(container.New(widgets.AtLeast(both), p.copying))
	p.object = widgets.NewFrame(widgets.Column(0,
		widgets.Padded(4, 0, 12, 4, container.NewBorder(nil, nil, nil, buttons, container.New(widgets.Middle(), caption))),
		widgets.Padded(-4, 2, 4, 4, p.text)), true)
	p.showText()
	return p
}

// showText shows the text, with its tokens only if they should be visible.
func (p *pasteBlock) showText() {
	v := p.values
	if !p.open {
		v = v.Masked()
	}
	s, err := p.block.Fill(v)
	if err != nil {
		return // it was filled before; dots instead of tokens change no path
	}
	p.text.SetText(s)
}

func (p *pasteBlock) toggle() {
	p.open = !p.open
	p.show.SetText(p.w.host.Lang.T(widgets.Either(p.open, text.RecipesHide, text.RecipesShow)))
	p.showText()
}

// Chosen returns the phone whose page is shown.
func (w *window) Chosen() string { return w.shown }
