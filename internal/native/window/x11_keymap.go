//go:build linux

package window

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/text/encoding/charmap"

	"wiebelt/internal/native/xconn"
)

// keymap is the meaning of the user's keys: up to four groups (layouts) per key, each with
// levels selected by Shift, AltGr and so on.
type keymap struct {
	types []levels
	keys  [256]keySyms

	alt, super uint16 // masks of modifiers
	locks      []uint16
}

type levels struct {
	mask    uint16            // the relevant modifiers
	byState map[uint16]uint16 // level by the modifiers held, 0 if missing
}

type keySyms struct {
	kinds [4]byte // index in types, by group
	info  byte    // number of groups, and the handling of others
	width int
	syms  []keysym // width symbols per group
}

// groups returns the number of layouts for which a key has symbols.
func (k *keySyms) groups() int { return int(k.info & 0x0f) }

// group maps the active group to one of the key's groups, or -1 if it has none.
func (k *keySyms) group(g int) int {
	n := k.groups()
	switch {
	case n == 0:
		return -1
	case g < n:
		return g
	case k.info&0xc0 == 0x40: // clamp
		return n - 1
	case k.info&0xc0 == 0x80: // redirect
		if r := int(k.info >> 4 & 3); r < n {
			return r
		}
		return 0
	}
	return g % n
}

// symbolAt returns a key's symbol in a group with some modifiers held,
// and the modifiers on which that depends.
func (m *keymap) symbolAt(code byte, group int, state uint16) (keysym, uint16) {
	k := &m.keys[code]
	g := k.group(group)
	if g < 0 {
		return 0, 0
	}
	var used uint16
	level := 0
	if t := int(k.kinds[g]); t < len(m.types) {
		used = m.types[t].mask
		level = int(m.types[t].byState[state&used])
	}
	if i := g*k.width + level; level < k.width && i < len(k.syms) {
		return k.syms[i], used
	}
	return 0, used
}

const modifiers = 0xff // of a state; higher bits are buttons and the group

func (d *x11) modifiers(state uint16) Modifiers {
	d.keyboard.Lock()
	alt, super := d.keymap.alt, d.keymap.super
	d.keyboard.Unlock()
	return heldKeys(state, alt, super)
}

func heldKeys(state, alt, super uint16) Modifiers {
	var m Modifiers
	for i, mask := range []uint16{xproto.ModMaskShift, xproto.ModMaskControl, alt, super} { // in the order of Modifiers
		if state&mask != 0 {
			m |= 1 << i
		}
	}
	return m
}

// event converts a key press to a frame's event, and returns its symbol.
func (m *keymap) event(code byte, state uint16) (KeyEvent, keysym) {
	group := int(state >> 13 & 3)
	s, used := m.symbolAt(code, group, state)
	e := KeyEvent{Held: heldKeys(state, m.alt&^used, m.super&^used), Key: s.key(), Letter: m.letter(code, group)}
	if e.Key != KeyText && e.Key != KeySpace || e.Held&(ModCtrl|ModAlt|ModSuper) != 0 {
		return e, s
	}
	r := s.rune()
	if state&xproto.ModMaskLock != 0 && used&xproto.ModMaskLock == 0 {
		r = unicode.ToUpper(r)
	}
	if r != 0 {
		e.Text = string(r)
	}
	return e, s
}

// letter returns a key's name in a shortcut: its own letter, or for other alphabets that of
// another of the user's layouts, or that of its usual place.
func (m *keymap) letter(code byte, group int) rune {
	s, _ := m.symbolAt(code, group, 0)
	own := unicode.ToLower(s.rune())
	if own < 0x80 || unicode.In(own, unicode.Latin) {
		return own
	}
	for g := range m.keys[code].groups() {
		if s, _ := m.symbolAt(code, g, 0); s.rune() != 0 && s.rune() < 0x80 {
			return unicode.ToLower(s.rune())
		}
	}
	for _, row := range usualPlaces {
		if i := int(code) - int(row.first); i >= 0 && i < len(row.keys) {
			return rune(row.keys[i])
		}
	}
	return own
}

// find returns the key with a shortcut's symbol, or 0 if there is none. The user's
// first layout takes precedence over the others. Letters and digits that no layout
// has are at their place on most keyboards.
func (m *keymap) find(want keysym) byte {
	for group := range 4 {
		for code := range m.keys {
			k := &m.keys[code]
			if group >= k.groups() {
				continue
			}
			if s, _ := m.symbolAt(byte(code), group, 0); s == want {
				return byte(code)
			}
		}
	}
	for _, row := range usualPlaces {
		if i := strings.IndexRune(row.keys, rune(want)); i >= 0 {
			return row.first + byte(i)
		}
	}
	return 0
}

// usualPlaces has the keys of letters and digits on an American keyboard, with the
// key codes of every X server on PC hardware.
var usualPlaces = [...]struct {
	first byte
	keys  string
}{{10, "1234567890"}, {24, "qwertyuiop"}, {38, "asdfghjkl"}, {52, "zxcvbnm"}}

// readKeymap queries the server through the keyboard extension, which all interactive servers
// have. From others it gets one layout with two levels.
func readKeymap(c *xgb.Conn) (*keymap, error) {
	m := &keymap{}
	if c.Extensions[xconn.Keyboard] == 0 || m.readExtension(c) != nil {
		if err := m.readCore(c); err != nil {
			return nil, err
		}
	}
	m.nameModifiers(c)
	return m, nil
}

// The requests of the keyboard extension, which the library lacks. The device is
// always the core keyboard.
const coreKeyboard = 0x100

func keyboardRequest(c *xgb.Conn, minor byte, words int) []byte {
	b := make([]byte, 4*words)
	b[0], b[1] = c.Extensions[xconn.Keyboard], minor
	binary.LittleEndian.PutUint16(b[2:], uint16(words))
	binary.LittleEndian.PutUint16(b[4:], coreKeyboard)
	return b
}

func askKeyboard(c *xgb.Conn, request []byte) ([]byte, error) {
	cookie := c.NewCookie(true, true)
	c.NewRequest(request, cookie)
	return cookie.Reply()
}

// useKeyboard tells the server that we know the extension. Presses then contain the
// active layout, a key that is held repeats without releases in between, and map
// changes arrive as events of the extension.
func useKeyboard(c *xgb.Conn) {
	if c.Extensions[xconn.Keyboard] == 0 {
		return
	}
	use := keyboardRequest(c, 0, 2)
	binary.LittleEndian.PutUint16(use[4:], 1) // version 1.0
	if b, err := askKeyboard(c, use); err != nil || len(b) < 2 || b[1] == 0 {
		return
	}
	flags := keyboardRequest(c, 21, 7)
	flags[8], flags[12] = 1, 1 // change, and set, detectable auto-repeat
	_, _ = askKeyboard(c, flags)
	events := keyboardRequest(c, 1, 4)
	events[6] = 3                 // on a new keyboard, and on map changes:
	events[10] = 1                // everything about the first,
	events[12], events[14] = 7, 7 // key types, symbols and modifiers
	c.NewRequest(events, c.NewCookie(false, false))
}

var errKeymap = errors.New("broken keyboard map")

func (m *keymap) readExtension(c *xgb.Conn) error {
	getMap := keyboardRequest(c, 8, 7)
	binary.LittleEndian.PutUint16(getMap[6:], 3) // key types and symbols
	b, err := askKeyboard(c, getMap)
	if err != nil {
		return err
	}
	return m.parse(b)
}

// parse reads the answer to GetMap.
func (m *keymap) parse(b []byte) error {
	if len(b) < 40 {
		return errKeymap
	}
	kinds, first, n := int(b[15]), int(b[17]), int(b[20])
	if b[14] != 0 || first+n > len(m.keys) {
		return errKeymap
	}
	in := reader{rest: b[40:], order: binary.LittleEndian}
	types := make([]levels, kinds)
	for i := range types {
		h := in.take(8)
		types[i] = levels{mask: uint16(h[0]), byState: map[uint16]uint16{}}
		entries, preserved := int(h[5]), h[6] != 0
		for range entries {
			if e := in.take(8); e[0] != 0 {
				types[i].byState[uint16(e[1])] = uint16(e[2])
			}
		}
		if preserved {
			in.take(4 * entries)
		}
	}
	var keys [256]keySyms
	for i := range n {
		h := in.take(8)
		k := &keys[first+i]
		copy(k.kinds[:], h)
		k.info, k.width = h[4], int(h[5])
		for v := in.take(4 * int(binary.LittleEndian.Uint16(h[6:]))); len(v) > 0; v = v[4:] {
			k.syms = append(k.syms, keysym(binary.LittleEndian.Uint32(v)))
		}
		if in.broken || k.groups() > len(k.kinds) {
			return errKeymap
		}
	}
	if in.broken {
		return errKeymap
	}
	m.types, m.keys = types, keys
	return nil
}

// readCore reads the map of the core protocol: one layout, two levels.
func (m *keymap) readCore(c *xgb.Conn) error {
	setup := xproto.Setup(c)
	first := setup.MinKeycode
	r, err := xproto.GetKeyboardMapping(c, first, byte(setup.MaxKeycode-first+1)).Reply()
	if err != nil {
		return err
	}
	m.types = []levels{{mask: xproto.ModMaskShift, byState: map[uint16]uint16{xproto.ModMaskShift: 1}}}
	per := int(r.KeysymsPerKeycode)
	for i := 0; per > 0 && (i+1)*per <= len(r.Keysyms) && int(first)+i < len(m.keys); i++ {
		k := &m.keys[int(first)+i]
		k.info, k.width = 1, min(per, 2)
		for _, s := range r.Keysyms[i*per : i*per+k.width] {
			k.syms = append(k.syms, keysym(s))
		}
		// A single letter stands for both cases.
		if k.width == 2 && k.syms[1] == 0 && k.syms[0].rune() != 0 {
			k.syms[1] = keysym(unicode.ToUpper(k.syms[0].rune()))
		}
	}
	return nil
}

// nameModifiers determines which of the eight modifiers are Alt, Super and the locks.
func (m *keymap) nameModifiers(c *xgb.Conn) {
	m.alt, m.super = xproto.ModMask1, xproto.ModMask4 // the usual ones
	m.locks = []uint16{xproto.ModMaskLock}
	r, err := xproto.GetModifierMapping(c).Reply()
	if err != nil || r == nil {
		return
	}
	per := int(r.KeycodesPerModifier)
	held := map[keysym]uint16{}
	for i := 0; per > 0 && i < 8*per && i < len(r.Keycodes); i++ {
		if code := byte(r.Keycodes[i]); code != 0 {
			for _, s := range m.keys[code].syms {
				held[s] |= 1 << (i / per)
			}
		}
	}
	const (
		altL, altR, superL, superR, numLock, scrollLock = 0xffe9, 0xffea, 0xffeb, 0xffec, 0xff7f, 0xff14
	)
	if a := held[altL] | held[altR]; a != 0 {
		m.alt = a
	}
	if s := held[superL] | held[superR]; s != 0 {
		m.super = s
	}
	for _, lock := range []keysym{numLock, scrollLock} {
		if v := held[lock]; v != 0 && v&(m.alt|m.super) == 0 {
			m.locks = append(m.locks, v)
		}
	}
}

// keysymKeys has the keys with their own meaning, including those of the number pad.
var keysymKeys = map[keysym]Key{
	0xff52: KeyUp, 0xff97: KeyUp, 0xff54: KeyDown, 0xff99: KeyDown, 0xff51: KeyLeft, 0xff96: KeyLeft, 0xff53: KeyRight, 0xff98: KeyRight,
	0xff50: KeyHome, 0xff95: KeyHome, 0xff57: KeyEnd, 0xff9c: KeyEnd, 0xff55: KeyPageUp, 0xff9a: KeyPageUp, 0xff56: KeyPageDown, 0xff9b: KeyPageDown,
	0xff09: KeyTab, 0xff89: KeyTab, 0xfe20: KeyTab, // the last with Shift
	0xff0d: KeyEnter, 0xff8d: KeyEnter, 0xfe34: KeyEnter, 0xff1b: KeyEscape, 0xff08: KeyBackspace,
	0xffff: KeyDelete, 0xff9f: KeyDelete, 0xff63: KeyInsert, 0xff9e: KeyInsert, 0x20: KeySpace, 0xff80: KeySpace, 0xff67: KeyMenu,
	0xffe1: KeyShift, 0xffe2: KeyShift, 0xffe3: KeyCtrl, 0xffe4: KeyCtrl, 0xffe9: KeyAlt, 0xffea: KeyAlt, 0xffeb: KeySuper, 0xffec: KeySuper,
}

// key returns the meaning of a key, which is KeyText for those that type text.
func (s keysym) key() Key {
	if s >= firstFunctionKey && s < firstFunctionKey+12 {
		return KeyF1 + Key(s-firstFunctionKey)
	}
	return keysymKeys[s]
}

// charsetPages has the character sets of pre-Unicode keysyms that layouts still use. The last byte is
// a character, and the one before it identifies the set.
var charsetPages = map[keysym]*charmap.Charmap{
	0x01: charmap.ISO8859_2, 0x02: charmap.ISO8859_3, 0x03: charmap.ISO8859_4, 0x05: charmap.ISO8859_6,
	0x0c: charmap.ISO8859_8, 0x0d: charmap.Windows874, 0x13: charmap.ISO8859_15,
}

// alphabets has the other sets: the first keysym, and its character and those
// of the following ones; a space means none.
var alphabets = []struct {
	first keysym
	text  string
}{
	{0x06a1, "ђѓёєѕіїјљњћќґўџ№ЂЃЁЄЅІЇЈЉЊЋЌҐЎЏюабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"}, // Cyrillic
	{0x07a1, "ΆΈΉΊΪ ΌΎΫ Ώ  ΅― άέήίϊΐόύϋΰώ     ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ ΤΥΦΧΨΩ       αβγδεζηθικλμνξοπρσςτυφχψω"},       // Greek
	{0x08fb, "←↑→↓"}, // technical: the arrows of German keyboards
	{0x0aa1, "\u2003\u2002\u2004\u2005\u2007\u2008\u2009\u200a\u2014\u2013 \u2423 \u2026\u2025\u2153\u2154\u2155\u2156\u2157\u2158\u2159\u215a\u2105  \u2012\u2329.\u232a    \u215b\u215c\u215d\u215e  \u2122\u2613 \u25c1\u25b7\u25cb\u25af\u2018\u2019\u201c\u201d\u211e\u2030\u2032\u2033 \u271d \u25ac\u25c0\u25b6\u25cf\u25ae\u25e6\u25ab\u25ad\u25b3\u25bd\u2606\u2022\u25aa\u25b2\u25bc\u261c\u261e\u2663\u2666\u2665 \u2720\u2020\u2021\u2713\u2717\u266f\u266d\u2642\u2640\u260e\u2315\u2117\u2038\u201a\u201e"}, // typography
}

// rune returns the character that a key types, or 0 for none.
func (s keysym) rune() rune {
	var r rune
	switch {
	case s >= 0x20 && s <= 0x7e || s >= 0xa0 && s <= 0xff: // Latin-1
		r = rune(s)
	case s >= 0x01000100 && s <= 0x0110ffff:
		r = rune(s - 0x01000000)
	case s == 0xff80: // space on the number pad
		r = ' '
	case s == 0xffbd || s >= 0xffaa && s <= 0xffb9:
		r = rune(s - 0xff80)
	case s == 0x20ac:
		r = '€'
	default:
		r = s.alphabet()
	}
	if unicode.IsGraphic(r) {
		return r
	}
	return 0
}

func (s keysym) alphabet() rune {
	if p := charsetPages[s>>8]; p != nil && s&0xff >= 0xa0 {
		if r := p.DecodeByte(byte(s)); r != utf8.RuneError {
			return r
		}
	}
	for _, a := range alphabets {
		if s < a.first || s >= a.first+0x100 {
			continue
		}
		n := a.first
		for _, r := range a.text {
			if n == s && r != ' ' {
				return r
			}
			n++
		}
	}
	return 0
}
