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

// The list, and the pages shown instead of it. The one about a filter is named after it.
const (
	pageList   = "list"
	pageBlank  = "blank"   // not read yet: nothing, for a moment
	pageEmpty  = "empty"   // there are no calls
	pageMine   = "mine"    // none for this user
	pageMissed = "missed"  // none missed
	pageOthers = "others"  // none that a colleague took
	pageUnsure = "unsure"  // none with an unknown outcome
	pageSearch = "search"  // none match the filter so far
	pageNone   = "none of" // none match the filter
	pageOff    = "off"     // no calls are kept
	pageBroken = "broken"  // the calls cannot be read
)

// viewPages are the pages for views without calls.
var viewPages = map[history.View]string{history.ViewAll: pageEmpty, history.ViewMissedHandled: pageMissed, history.ViewMine: pageMine,
	history.ViewElsewhere: pageOthers, history.ViewUnsure: pageUnsure}

// pageWords holds a page's title and the sentence below it, if any.
var pageWords = map[string][]text.Key{
	pageSearch: {text.CallsSearching},
	pageMissed: {text.CallsNoneMissed, text.CallsNoneMissedHint},
	pageMine:   {text.CallsNoneMine, text.CallsNoneMineHint},
	pageOthers: {text.CallsNoneElsewhere, text.CallsNoneElsewhereHint},
	pageUnsure: {text.CallsNoneUnsure, text.CallsNoneUnsureHint},
	pageOff:    {text.WindowCallsOff, text.WindowCallsOffHint},
	pageBroken: {text.WindowCallsBroken, text.WindowCallsBrokenHint},
}

// draw shows the list, or the page instead of it.
func (c *window) draw() {
	p := c.pageNow()
	widgets.SetVisible(c.tools, c.listLayout.count+c.listLayout.openCount > 0 || c.query.View != c.viewAt(0) || c.filter.Text != "") // otherwise nothing to search
	if p == pageList {
		c.list.show()
	}
	c.body.Put(p, func() fyne.CanvasObject { return c.pageContent(p) })
}

func (c *window) pageNow() string {
	filter := strings.TrimSpace(c.filter.Text)
	switch {
	case c.listLayout.count+c.listLayout.openCount > 0:
		return pageList
	case c.host.Welcome.History == "":
		return pageOff
	case c.h.state == readingFailed:
		return pageBroken
	case c.h.state == readingPending:
		return pageBlank
	case filter != "" && !c.result.exact && c.result.slow:
		return pageSearch
	case filter != "" && !c.result.exact:
		return pageBlank // nothing yet
	case filter != "":
		return pageNone + filter
	}
	return viewPages[c.query.View]
}

func (c *window) pageContent(p string) fyne.CanvasObject {
	l := c.host.Lang
	switch p {
	case pageList:
		return c.list
	case pageEmpty:
		if len(c.host.Welcome.Demo) == 0 {
			return widgets.EmptyPage(l.T(text.WindowCallsEmpty), nil,
				l.T(text.WindowCallsEmptyHint), l.T(text.WindowCallsEmptyCommand))
		}
		demo := widgets.NewPrimary(l.T(text.WindowDemoOpen), func() { c.host.Show(windowapi.WindowDemo) })
		return widgets.EmptyPage(l.T(text.WindowCallsEmpty), demo, l.T(text.WindowCallsEmptyHint), l.T(text.WindowCallsEmptyDemo))
	}
	if words := pageWords[p]; words != nil {
		var button *widgets.Button
		if p == pageMine {
			button = widgets.NewButton(l.T(text.CallsNoneShow), func() { c.show(history.ViewAll) })
		}
		var hints []string
		for _, hint := range words[1:] {
			hints = append(hints, l.T(hint))
		}
		return widgets.EmptyPage(l.T(words[0]), button, hints...)
	}
	if filter, ok := strings.CutPrefix(p, pageNone); ok {
		clear := widgets.NewButton(l.T(text.WindowCallsNoneClear), func() { c.filter.SetText("") })
		return widgets.EmptyPage(l.T(text.WindowCallsNone, filter), clear, l.T(text.WindowCallsNoneHint))
	}
	return container.NewWithoutLayout()
}
