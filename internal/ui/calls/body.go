package calls

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// Pages in place of the list. The one about a filter is called after it.
const (
	pageBlank  = "blank"   // not read yet: nothing, for a moment
	pageEmpty  = "empty"   // there are none
	pageMine   = "mine"    // none for this user
	pageMissed = "missed"  // none missed
	pageOthers = "others"  // none that a colleague took
	pageUnsure = "unsure"  // none of which nobody knows
	pageSearch = "search"  // none match the filter so far
	pageNone   = "none of" // none match the filter
	pageOff    = "off"     // none are kept
	pageBroken = "broken"  // they cannot be read
)

// draw shows the list, or the page in its place.
func (c *window) draw() {
	p := c.pageNow()
	widgets.Visible(c.tools, c.plan.count+c.plan.work > 0 || c.query.View != c.viewAt(0) || c.filter.Text != "") // else there is nothing to search in
	if p == "" {
		c.list.show()
	}
	if p == c.page && len(c.body.Objects) > 0 {
		return
	}
	c.page = p
	c.body.Objects = []fyne.CanvasObject{c.pageContent(p)}
	c.body.Refresh()
}

func (c *window) pageNow() string {
	filter := strings.TrimSpace(c.filter.Text)
	switch {
	case c.plan.count+c.plan.work > 0:
		return ""
	case c.d.Welcome.History == "":
		return pageOff
	case c.h.state == readingFailed:
		return pageBroken
	case c.h.state == readingNot:
		return pageBlank
	case filter != "" && !c.got.exact && c.got.long:
		return pageSearch
	case filter != "" && !c.got.exact:
		return pageBlank // nothing yet
	case filter != "":
		return pageNone + filter
	case c.query.View == history.ViewMissed:
		return pageMissed
	case c.query.View == history.ViewMine:
		return pageMine
	case c.query.View == history.ViewElsewhere:
		return pageOthers
	case c.query.View == history.ViewUnsure:
		return pageUnsure
	}
	return pageEmpty
}

func (c *window) pageContent(p string) fyne.CanvasObject {
	l := c.d.Lang
	switch p {
	case "":
		return c.list
	case pageEmpty:
		if len(c.d.Welcome.Demo) == 0 {
			return widgets.EmptyPage(l.T(text.DeskCallsEmpty), nil,
				l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyCommand))
		}
		demo := widgets.NewButton(l.T(text.DeskDemoOpen), func() { c.d.Show(windowapi.WindowDemo) })
		demo.Importance = widget.HighImportance
		return widgets.EmptyPage(l.T(text.DeskCallsEmpty), demo, l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyDemo))
	case pageSearch:
		return widgets.EmptyPage(l.T(text.CallsSearching), nil)
	case pageMissed:
		return widgets.EmptyPage(l.T(text.CallsNoneMissed), nil, l.T(text.CallsNoneMissedHint))
	case pageOthers:
		return widgets.EmptyPage(l.T(text.CallsNoneElsewhere), nil, l.T(text.CallsNoneElsewhereHint))
	case pageUnsure:
		return widgets.EmptyPage(l.T(text.CallsNoneUnsure), nil, l.T(text.CallsNoneUnsureHint))
	case pageMine:
		all := widgets.NewButton(l.T(text.CallsNoneShow), func() { c.show(history.ViewAll) })
		return widgets.EmptyPage(l.T(text.CallsNoneMine), all, l.T(text.CallsNoneMineHint))
	case pageOff:
		return widgets.EmptyPage(l.T(text.DeskCallsOff), nil, l.T(text.DeskCallsOffHint))
	case pageBroken:
		return widgets.EmptyPage(l.T(text.DeskCallsBroken), nil, l.T(text.DeskCallsBrokenHint))
	}
	if filter, ok := strings.CutPrefix(p, pageNone); ok {
		clear := widgets.NewButton(l.T(text.DeskCallsNoneClear), func() { c.filter.SetText("") })
		return widgets.EmptyPage(l.T(text.DeskCallsNone, filter), clear, l.T(text.DeskCallsNoneHint))
	}
	return container.NewWithoutLayout()
}
