package screenreader

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"wiebelt/internal/native/desktopbus"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// launcher reports the address of the accessibility bus.
type launcher struct {
	address string
	after   time.Duration
}

func (l launcher) GetAddress() (string, *dbus.Error) {
	<-time.After(l.after)
	return l.address, nil
}

// ears is a program on the accessibility bus, with the real registry,
// that receives the events of other programs.
type ears struct {
	t     *testing.T
	c     *dbus.Conn
	heard chan *dbus.Signal
	of    string // the program whose events are meant
}

func listen(t *testing.T) *ears {
	t.Helper()
	s := xtest.Start(t, "", xtest.Options{Width: 320, Height: 200}) // the registry needs a screen
	accessible, session := s.PlainBus(), s.PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session)
	c := xtest.Connect(t, session)
	must.Do(t, c.Export(launcher{address: accessible}, busPath, busName))
	xtest.Own(t, c, busName)
	s.Spawn("env", "AT_SPI_BUS_ADDRESS="+accessible, "DBUS_SESSION_BUS_ADDRESS="+accessible, "/usr/libexec/at-spi2-registryd")
	e := &ears{t: t, c: xtest.Connect(t, accessible), heard: make(chan *dbus.Signal, 100)}
	s.Until("the registry is there", func() bool { return desktopbus.Owner(t.Context(), e.c, registry) != "" })
	e.c.Signal(e.heard)
	for _, kind := range []string{"Object", "Window"} {
		must.Do(t, e.c.AddMatchSignal(dbus.WithMatchInterface(iface+"Event."+kind)))
	}
	return e
}

// programs returns the programs registered on the desktop.
func (e *ears) programs() (all []reference) {
	e.t.Helper()
	must.Do(e.t, e.c.Object(registry, root).Call(iface+"Accessible.GetChildren", 0).Store(&all))
	return all
}

// ask calls a method of one of the program's objects.
func ask[T any](e *ears, of ID, method string, args ...any) (v T) {
	e.t.Helper()
	path := of.path()
	if of == 0 {
		path = root
	}
	if err := e.c.Object(e.of, path).Call(iface+method, 0, args...).Store(&v); err != nil {
		e.t.Errorf("%s of %d: %v", method, of, err)
	}
	return v
}

// property reads one property of an object.
func property[T any](e *ears, of ID, kind, name string) (v T) {
	e.t.Helper()
	got := must.Get(desktopbus.Get(e.t.Context(), e.c, e.of, of.path(), iface+kind, name))(e.t)
	must.Do(e.t, dbus.Store([]any{got}, &v))
	return v
}

// hears reads as many events as want has and compares them.
func (e *ears) hears(want ...string) {
	e.t.Helper()
	var got []string
	for len(got) < len(want) {
		s := must.Receive(e.t, e.heard, fmt.Sprintf("%q after %q", want, got))
		if s.Sender == desktopbus.Owner(e.t.Context(), e.c, registry) {
			continue // the registry reports us as well
		}
		got = append(got, s.Name[len(iface+"Event."):]+" "+s.Body[0].(string)+" of "+string(s.Path[len(objects)+1:]))
	}
	if !slices.Equal(got, want) {
		e.t.Errorf("heard %q, want %q", got, want)
	}
}

// runs runs a bridge until stop or the end of the test.
func runs(t *testing.T) (b *Bridge, stop func()) {
	b = New()
	return b, must.Run(t, func(ctx context.Context) {
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestBridge checks, with the real registry of accessible programs, that a card is announced,
// explored, pressed, spoken once each time it has news, and removed.
func TestBridge(t *testing.T) {
	e := listen(t)
	b, stop := runs(t)
	pressed := make(chan ID, 10)
	show := func(cards ...*Node) {
		b.Show(Tree{Windows: cards, Press: func(id ID) { pressed <- id }, PositionText: func(i, of int) string { return fmt.Sprint(i, " van ", of) }})
	}

	show(testCard(2, "Inkomend: 06 12 34 56 78", false))
	e.hears("Object.ChildrenChanged add of root", "Object.StateChanged showing of 2")
	all := e.programs()
	if len(all) != 1 || all[0].Path != root {
		t.Fatalf("programs %v", all)
	}
	e.of = all[0].Name
	explored(e)

	if !ask[bool](e, 4, "Action.DoAction", int32(0)) || <-pressed != 4 {
		t.Error("not pressed")
	}
	if ask[bool](e, 4, "Action.DoAction", int32(1)) || ask[bool](e, 6, "Action.DoAction", int32(0)) || ask[bool](e, 2, "Action.DoAction", int32(0)) || len(pressed) != 0 {
		t.Error("what does nothing was pressed")
	}
	show(testCard(2, "Inkomend: 06 12 34 56 78", true))
	e.hears("Object.StateChanged active of 1", "Window.Activate  of 1", "Object.StateChanged focused of 4")
	show(testCard(7, "Inkomend: A. Bakker", true))
	e.hears("Object.ChildrenChanged remove of 1", "Object.PropertyChange accessible-name of 1", "Object.ChildrenChanged add of 1", "Object.StateChanged showing of 7")
	if old := property[string](e, 2, "Accessible", "Name"); old != "Inkomend: 06 12 34 56 78" {
		t.Errorf("a slow reader finds that %q was said", old)
	}
	without := testCard(7, "Inkomend: A. Bakker", false)
	without.Children = without.Children[:2]
	show(without)
	gone := "Object.ChildrenChanged remove of 1"
	e.hears(gone, gone, gone, "Object.StateChanged active of 1", "Window.Deactivate  of 1", "Object.StateChanged focused of 4")
	show()
	e.hears("Object.ChildrenChanged remove of root")
	err := e.c.Object(e.of, objects+"/1").Call(iface+"Accessible.GetRole", 0).Err
	if unknown := (dbus.Error{}); !errors.As(err, &unknown) || unknown.Name != "org.freedesktop.DBus.Error.UnknownObject" {
		t.Errorf("what has gone says %v", err)
	}
	stop()
	if desktopbus.Owner(t.Context(), e.c, e.of) != "" {
		t.Error("the connection has not ended")
	}
}

// TestSlowLauncher checks that the bus address may arrive long after it was requested.
func TestSlowLauncher(t *testing.T) {
	session := xtest.NoScreen(t).PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session)
	c := xtest.Connect(t, session)
	must.Do(t, c.Export(launcher{after: 4 * desktopbus.CallTimeout}, busPath, busName))
	xtest.Own(t, c, busName)
	if err := New().Run(t.Context()); !errors.Is(err, desktopbus.ErrNoBus) {
		t.Errorf("told that there is none: %v", err)
	}
}

// offers returns the interfaces that readers are told to use with an object.
func offers(e *ears, of ID) string {
	e.t.Helper()
	return strings.ReplaceAll(strings.Join(ask[[]string](e, of, "Accessible.GetInterfaces"), " "), iface, "")
}

// explored asks what screen readers want to know about the card.
func explored(e *ears) {
	e.t.Helper()
	for _, is := range []struct {
		what      string
		got, want any
	}{
		{"the program's role", ask[uint32](e, 0, "Accessible.GetRole"), roles[application].number},
		{"what the program offers", offers(e, 0), "Accessible Application"},
		{"its place among programs", ask[int32](e, 0, "Accessible.GetIndexInParent"), int32(-1)},
		{"what the card offers", offers(e, 1), "Accessible Component"},
		{"what a button offers", offers(e, 4), "Accessible Component Action"},
		{"what one offers that is off", offers(e, 6), "Accessible Component"},
		{"what a field offers", offers(e, 8), "Accessible Component Action Text"},
		{"the card's role", ask[string](e, 1, "Accessible.GetRoleName"), "alert"},
		{"the card's parent", property[reference](e, 1, "Accessible", "Parent"), reference{e.of, root}},
		{"its name", property[string](e, 1, "Accessible", "Name"), "Inkomend: 06 12 34 56 78"},
		{"its size", property[int32](e, 1, "Accessible", "ChildCount"), int32(5)},
		{"the row's description", property[string](e, 5, "Accessible", "Description"), "Bekend. 2 van 3"},
		{"its place", ask[map[string]string](e, 5, "Accessible.GetAttributes")["posinset"], "2"},
		{"the button's place in it", ask[int32](e, 4, "Accessible.GetIndexInParent"), int32(0)},
		{"its actions", property[int32](e, 4, "Action", "NActions"), int32(1)},
		{"its state", ask[[]uint32](e, 4, "Accessible.GetState")[0], uint32(showing | visible | enabled | focusable)},
		{"the state of one that is off", ask[[]uint32](e, 6, "Accessible.GetState")[0], uint32(showing | visible)},
		{"where it is", ask[rectangle](e, 4, "Component.GetExtents", uint32(0)), rectangle{110, 250, 90, 30}},
		{"where in the window", ask[rectangle](e, 4, "Component.GetExtents", uint32(fromWindow)), rectangle{10, 50, 90, 30}},
		{"where in the row", ask[rectangle](e, 4, "Component.GetExtents", uint32(fromParent)), rectangle{0, 10, 90, 30}},
		{"what is there", ask[reference](e, 1, "Component.GetAccessibleAtPoint", int32(11), int32(51), uint32(fromWindow)), reference{e.of, objects + "/4"}},
		{"what is outside", ask[reference](e, 1, "Component.GetAccessibleAtPoint", int32(5), int32(5), uint32(0)), nullReference},
		{"beyond the last", ask[reference](e, 1, "Accessible.GetChildAtIndex", int32(9)), nullReference},
		{"the third", ask[reference](e, 1, "Accessible.GetChildAtIndex", int32(2)), reference{e.of, objects + "/6"}},
	} {
		if is.got != is.want {
			e.t.Errorf("%s: %v, want %v", is.what, is.got, is.want)
		}
	}
}

// aWindow returns a window with a field and its surroundings.
func aWindow(value string, caret int, marked [2]int, on State, more ...*Node) *Node {
	field := &Node{ID: 2, Role: Entry, State: Focusable | on&Invalid, Name: "Naam", Value: value, Caret: caret, Selection: marked, Focused: true, Bounds: image.Rect(10, 10, 90, 30)}
	list := &Node{ID: 3, Role: List, State: Focusable, Name: "Kleur", Children: []*Node{
		{ID: 4, Role: Item, State: Focusable | Pressable | on&Selected, Name: "Rood", Position: [2]int{1, 2}}, {ID: 5, Role: Item, State: Focusable, Name: "Blauw"}}}
	check := &Node{ID: 6, Role: CheckBox, State: Focusable | on&(Checked|OffScreen), Name: "Aan"}
	code := &Node{ID: 7, Role: Entry, State: Focusable | Password | Multiline, Name: "Geheim", Value: "••"}
	part := &Node{ID: 8, Role: Button, State: Focusable | Expandable | on&Expanded, Name: "Meer"}
	return &Node{ID: 1, Role: Window, Name: "Venster", Focused: true, Bounds: image.Rect(0, 0, 100, 100),
		Children: append([]*Node{field, list, check, code, part, {ID: 9, Role: Heading, Level: 2, Name: "Kop"}}, more...)}
}

// TestWindow checks that typing, selecting, checking and choosing in a window are
// reported, and that questions about it are answered. What a window shows when it
// opens is not news; what appears later is.
func TestWindow(t *testing.T) {
	e := listen(t)
	b, _ := runs(t)
	show := func(w *Node) { b.Show(Tree{Windows: []*Node{w}, Press: func(ID) {}}) }
	old := &Node{ID: 20, Role: News, Name: "Was er al"}
	show(aWindow("één twee", 8, [2]int{}, 0, old))
	e.hears("Object.ChildrenChanged add of root", "Object.StateChanged active of 1", "Window.Activate  of 1", "Object.StateChanged focused of 2")
	e.of = e.programs()[0].Name
	queryAll(e)

	show(aWindow("één drie", 5, [2]int{4, 5}, Invalid, old, &Node{ID: 21, Role: News, Name: "Dat kan niet"}))
	e.hears("Object.StateChanged invalid-entry of 2", "Object.TextChanged delete of 2", "Object.TextChanged insert of 2",
		"Object.TextCaretMoved  of 2", "Object.TextSelectionChanged  of 2", "Object.ChildrenChanged add of 1", "Object.StateChanged showing of 21")
	show(aWindow("één drie", 5, [2]int{4, 5}, Invalid|Selected|Checked|OffScreen|Expanded))
	e.hears("Object.ChildrenChanged remove of 1", "Object.ChildrenChanged remove of 1", "Object.StateChanged selected of 4",
		"Object.StateChanged checked of 6", "Object.StateChanged showing of 6", "Object.StateChanged expanded of 8")
	if got := ask[[]uint32](e, 6, "Accessible.GetState"); got[0]&uint32(showing) != 0 || got[0]&uint32(checked) == 0 || got[1]&uint32(checkable>>32) == 0 {
		t.Errorf("the check is %x", got)
	}
	if got := ask[reference](e, 3, "Selection.GetSelectedChild", int32(0)); got.Path != objects+"/4" || !ask[bool](e, 3, "Selection.IsChildSelected", int32(0)) {
		t.Errorf("chosen %v", got)
	}
	if got := offers(e, 3); got != "Accessible Component Selection" {
		t.Errorf("a list with a choice offers %s", got)
	}
}

// textAt is a reply about part of a text.
type textAt struct {
	Text     string
	From, To int32
}

// queryAll asks what screen readers want to know about the window.
func queryAll(e *ears) {
	e.t.Helper()
	at := func(method string, offset int32, n uint32) (got textAt) {
		if err := e.c.Object(e.of, ID(2).path()).Call(iface+"Text."+method, 0, offset, n).Store(&got.Text, &got.From, &got.To); err != nil {
			e.t.Error(method, err)
		}
		return got
	}
	for _, is := range []struct {
		what      string
		got, want any
	}{
		{"the window's role", ask[string](e, 1, "Accessible.GetRoleName"), "frame"},
		{"the secret's role", ask[string](e, 7, "Accessible.GetRoleName"), "password text"},
		{"the level", ask[map[string]string](e, 9, "Accessible.GetAttributes")["level"], "2"},
		{"the text", ask[string](e, 2, "Text.GetText", int32(0), int32(-1)), "één twee"},
		{"a part of it", ask[string](e, 2, "Text.GetText", int32(1), int32(3)), "én"},
		{"its length", property[int32](e, 2, "Text", "CharacterCount"), int32(8)},
		{"the caret", property[int32](e, 2, "Text", "CaretOffset"), int32(8)},
		{"a letter", ask[int32](e, 2, "Text.GetCharacterAtOffset", int32(0)), int32('é')},
		{"beyond the last", ask[int32](e, 2, "Text.GetCharacterAtOffset", int32(8)), int32(0)},
		{"the letter at", at("GetTextAtOffset", 4, 0), textAt{"t", 4, 5}},
		{"the word at", at("GetStringAtOffset", 1, 1), textAt{"één ", 0, 4}},
		{"the word behind", at("GetTextAfterOffset", 1, 1), textAt{"twee", 4, 8}},
		{"the word before", at("GetTextBeforeOffset", 5, 1), textAt{"één ", 0, 4}},
		{"the line", at("GetTextAtOffset", 8, 5), textAt{"één twee", 0, 8}},
		{"what is selected", ask[int32](e, 2, "Text.GetNSelections"), int32(0)},
		{"what a list offers where nothing is chosen", offers(e, 3), "Accessible Component"},
		{"what acts", property[int32](e, 4, "Action", "NActions"), int32(1)},
		{"what does not", property[int32](e, 5, "Action", "NActions"), int32(0)},
	} {
		if is.got != is.want {
			e.t.Errorf("%s: %v, want %v", is.what, is.got, is.want)
		}
	}
}

// TestDiffering checks that changes are reported to screen readers in their shortest form.
func TestDiffering(t *testing.T) {
	for _, tt := range []struct {
		old, now   string
		at         int32
		gone, come string
	}{{"", "", 0, "", ""}, {"aab", "aaab", 2, "", "a"}, {"één", "eén", 0, "é", "e"}, {"abc", "", 0, "abc", ""}, {"a b", "a c b", 2, "", "c "}} {
		if at, gone, come := textChange(tt.old, tt.now); at != tt.at || gone != tt.gone || come != tt.come {
			t.Errorf("%q to %q: at %d %q becomes %q", tt.old, tt.now, at, gone, come)
		}
	}
}

// TestNobodyThere checks that without a bus nothing happens and nothing blocks.
func TestNobodyThere(t *testing.T) {
	for _, address := range []string{"disabled:", "unix:path=/nowhere/at/all"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		b := New()
		if err := b.Run(t.Context()); err == nil {
			t.Errorf("%s: it runs", address)
		}
		for range 100 {
			b.Show(Tree{})
		}
	}
}
