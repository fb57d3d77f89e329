//go:build linux

package window

import (
	"image"
	"net/url"
	"os"
	"strings"

	"github.com/jezek/xgb/xproto"
)

// dndVersion is the version of the drag-and-drop protocol XDND that frames support.
const dndVersion = 5

// drop is the drag over a frame. Only the events goroutine uses it.
type drop struct {
	from  xproto.Window
	files bool // it offers files
	at    image.Point
}

func (p *drop) message(f *x11Frame, kind xproto.Atom, data []uint32) {
	a, c := &f.d.atoms, f.d.conn
	answer := func(kind xproto.Atom, v ...uint32) {
		if p.from != 0 { // with zero, the server would use the window under the pointer
			f.d.message(p.from, 0, p.from, kind, append([]uint32{uint32(f.id)}, v...)...)
		}
	}
	switch kind {
	case a.dndEnter:
		*p = drop{from: xproto.Window(data[0])}
		kinds := data[2:5]
		if data[1]&1 != 0 { // more than three kinds
			if all := f.d.values(p.from, a.dndTypes, xproto.AtomAtom, 256); len(all) > 0 {
				kinds = all
			}
		}
		for _, k := range kinds {
			p.files = p.files || xproto.Atom(k) == a.uriList
		}
	case a.dndPosition:
		if xproto.Window(data[0]) != p.from {
			return
		}
		where := image.Pt(int(int16(data[2]>>16)), int(int16(data[2])))
		if r, err := xproto.TranslateCoordinates(c, f.d.root, f.id, int16(where.X), int16(where.Y)).Reply(); err == nil {
			p.at = pointAt(r.DstX, r.DstY)
		}
		if p.files {
			answer(a.dndStatus, 1, 0, 0, uint32(a.dndCopy))
		} else {
			answer(a.dndStatus, 0, 0, 0, 0)
		}
	case a.dndLeave:
		*p = drop{}
	case a.dndDrop:
		if xproto.Window(data[0]) != p.from || !p.files {
			answer(a.dndFinished, 0, 0)
			*p = drop{}
			return
		}
		xproto.ConvertSelection(c, f.id, a.dndSelection, a.uriList, a.pasted, xproto.Timestamp(data[2]))
	}
}

func (p *drop) handleFiles(f *x11Frame, e xproto.SelectionNotifyEvent) {
	a := &f.d.atoms
	if e.Selection != a.dndSelection || p.from == 0 || e.Property != 0 && e.Property != a.pasted {
		return
	}
	var files []string
	if e.Property != 0 {
		list, _ := f.d.consumeProperty(f.id, e.Property)
		files = droppedFiles(string(list))
	}
	ok := uint32(0)
	if len(files) > 0 {
		ok = 1
	}
	f.d.message(p.from, 0, p.from, a.dndFinished, uint32(f.id), ok, uint32(a.dndCopy))
	where := p.at
	*p = drop{}
	if len(files) > 0 {
		f.handler.FrameDropped(where, files)
	}
}

// droppedFiles returns the local files in a text/uri-list.
func droppedFiles(list string) []string {
	host, _ := os.Hostname()
	var files []string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		u, err := url.Parse(line)
		if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" && u.Host != host {
			continue
		}
		files = append(files, u.Path)
	}
	return files
}
