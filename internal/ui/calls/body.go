package calls

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// viewPages are the pages for views without calls.
var viewPages = map[history.View]text.Key{history.ViewAll: text.WindowCallsEmpty, history.ViewMissedHandled: text.CallsNoneMissed,
	history.ViewMine: text.CallsNoneMine, history.ViewElsewhere: text.CallsNoneElsewhere, history.ViewUnsure: text.CallsNoneUnsure}

// pageHints holds the sentences below the titles of pages.
var pageHints = map[text.Key][]text.Key{
	text.CallsNoneMissed:    {text.CallsNoneMissedHint},
	text.CallsNoneMine:      {text.CallsNoneMineHint},
	text.CallsNoneElsewhere: {text.CallsNoneElsewhereHint},
	text.CallsNoneUnsure:    {text.CallsNoneUnsureHint},
	text.WindowCallsOff:     {text.WindowCallsOffHint},
	text.WindowCallsBroken:  {text.WindowCallsBrokenHint},
}

// draw shows the list, or the page instead of it.
func (c *window) draw() {
	p := c.pageNow()
	widgets.SetVisible(c.tools, c.listLayout.count+c.listLayout.openCount > 0 || c.query.View != c.viewAt(0) || c.filter.Text != "") // otherwise nothing to search
	if p == pageList {
		c.list.show()
	}
	c.body.Put(string(p), func() fyne.CanvasObject { return c.pageContent(p) })
}

func (c *window) pageNow() text.Key {
	filter := strings.TrimSpace(c.filter.Text)
	switch {
	case c.listLayout.count+c.listLayout.openCount > 0:
		return pageList
	case c.host.Welcome.History == "":
		return text.WindowCallsOff
	case c.h.state == readingFailed:
		return text.WindowCallsBroken
	case c.h.state == readingPending:
		return pageBlank
	case filter != "" && !c.result.exact && c.result.slow:
		return text.CallsSearching
	case filter != "" && !c.result.exact:
		return pageBlank // nothing yet
	case filter != "":
		return text.Key(pageNone + filter)
	}
	return viewPages[c.query.View]
}

func (c *window) pageContent(p text.Key) fyne.CanvasObject {
	l := c.host.Lang
	hints := pageHints[p]
	var button *widgets.Button
	switch p {
	case pageList:
		return c.list
	case pageBlank:
		return container.NewWithoutLayout()
	case text.CallsNoneMine:
		button = widgets.NewButton(l.T(text.CallsNoneShow), func() { c.show(history.ViewAll) })
	case text.WindowCallsEmpty:
		hints = []text.Key{text.WindowCallsEmptyHint, text.WindowCallsEmptyCommand}
		if len(c.host.Welcome.Demo) > 0 {
			hints[1] = text.WindowCallsEmptyDemo
			button = widgets.NewPrimary(l.T(text.WindowDemoOpen), func() { c.host.Show(windowapi.WindowDemo) })
		}
	}
	if filter, ok := strings.CutPrefix(string(p), pageNone); ok {
		clear := widgets.NewButton(l.T(text.WindowCallsNoneClear), func() { c.filter.SetText("") })
		return widgets.EmptyPage(l.T(text.WindowCallsNone, filter), clear, l.T(text.WindowCallsNoneHint))
	}
	var sentences []string
	for _, hint := range hints {
		sentences = append(sentences, l.T(hint))
	}
	return widgets.EmptyPage(l.T(p), button, sentences...)
}
