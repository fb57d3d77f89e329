package localhub

import (
	"archive/zip"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/text"
)

const (
	boxPath    = "/messages"
	pageOf     = 50  // messages on a page
	namesShown = 200 // files of a ZIP named on a page
)

// boxView is the message box, or one message of it.
type boxView struct {
	Count string // how many messages there are
	Rows  []parcelView
	Older string // id of the last message shown, if there are older ones
	Newer bool   // this is not the first page
}

// parcelView is a message.
type parcelView struct {
	ID, Received, Sender, Organisation, Intermediary, Size, Files, SHA256 string
	Names                                                                 []otherView // of the files in it; Detail is the size
	More                                                                  string      // how many names were left out, "" for none
}

func (h *Hub) showBox(w http.ResponseWriter, r *http.Request, who visitor) error {
	before := r.URL.Query().Get("before")
	if before != "" && uuid.Validate(before) != nil {
		before = ""
	}
	all, err := h.Messages(r.Context(), before, pageOf+1)
	if err != nil {
		return err
	}
	n, err := h.CountMessages(r.Context())
	if err != nil {
		return err
	}
	v := h.view(r, text.LocalhubBox, who)
	v.Box = boxView{Count: v.Lang.N(text.LocalhubBoxCount, n), Newer: before != ""}
	if n == 0 {
		v.Box.Count = v.Lang.T(text.LocalhubBoxEmpty)
	}
	for i, m := range all {
		if i == pageOf {
			v.Box.Older = all[i-1].ID
			break
		}
		v.Box.Rows = append(v.Box.Rows, viewOf(v.Lang, m))
	}
	return h.show(w, http.StatusOK, "box", v)
}

// asked gives the message that a page is about.
func (h *Hub) asked(r *http.Request) (Message, error) {
	m, err := h.Message(r.Context(), r.PathValue("id"))
	if errors.Is(err, ErrNoMessage) {
		err = &pageError{http.StatusNotFound, text.LocalhubNoMessage, text.LocalhubNoMessageBody}
	}
	return m, err
}

func (h *Hub) showParcel(w http.ResponseWriter, r *http.Request, who visitor) error {
	m, err := h.asked(r)
	if err != nil {
		return err
	}
	v := h.view(r, text.LocalhubMessage, who)
	p := viewOf(v.Lang, m)
	if err := h.names(&p, v.Lang, m); err != nil {
		return err
	}
	v.Box.Rows = []parcelView{p}
	return h.show(w, http.StatusOK, "parcel", v)
}

// names reads what a ZIP file holds. It was looked into when it came in, so its
// list of files is of a bounded size.
func (h *Hub) names(p *parcelView, lang text.Language, m Message) error {
	f, err := h.openMessage(m)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zip.NewReader(f, m.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are shown, and lead nowhere
		return err
	}
	for _, e := range z.File {
		if e.FileInfo().IsDir() {
			continue
		}
		if len(p.Names) == namesShown {
			p.More = lang.N(text.LocalhubMessageMore, m.Files-namesShown)
			break
		}
		p.Names = append(p.Names, otherView{Name: legible(strings.ToValidUTF8(e.Name, "?")), Detail: bytesOf(lang, int64(e.UncompressedSize64))})
	}
	return nil
}

func (h *Hub) sendParcel(w http.ResponseWriter, r *http.Request, _ visitor) error {
	m, err := h.asked(r)
	if err != nil {
		return err
	}
	f, err := h.openMessage(m)
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+m.ID+`.zip"`)
	// A large one takes as long as it takes.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(longest))
	http.ServeContent(w, r, "", m.Received, f)
	return nil
}

func viewOf(lang text.Language, m Message) parcelView {
	layout := "02-01-2006 15:04"
	if lang == text.English {
		layout = "2 Jan 2006 15:04"
	}
	return parcelView{
		ID: m.ID, Received: m.Received.Local().Format(layout), Sender: legible(m.Sender), Organisation: legible(m.OrganisationCode), Intermediary: legible(m.Intermediary),
		Size: bytesOf(lang, m.Size), Files: strconv.Itoa(m.Files), SHA256: m.SHA256,
	}
}

// bytesOf writes a size as people read it.
func bytesOf(lang text.Language, n int64) string {
	units := []string{"B", "kB", "MB", "GB"}
	v, u := float64(n), 0
	for v >= 999.5 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	digits := 0
	if u > 0 && v < 9.95 {
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if lang == text.Dutch {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s + "\u00a0" + units[u]
}
