package localhub

import (
	"archive/zip"
	"errors"
	"net/http"
	"os"
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

// administered shows a page to administrators only.
func (h *Hub) administered(show userPage) http.HandlerFunc {
	return h.loggedIn(func(w http.ResponseWriter, r *http.Request, who user, token string) {
		if !who.admin {
			h.message(w, r, http.StatusForbidden, who, token, text.LocalhubNotAdmin, text.LocalhubNotAdminBody)
			return
		}
		show(w, r, who, token)
	})
}

func (h *Hub) showBox(w http.ResponseWriter, r *http.Request, who user, token string) {
	before := r.URL.Query().Get("before")
	if before != "" && uuid.Validate(before) != nil {
		before = ""
	}
	all, err := h.Messages(r.Context(), before, pageOf+1)
	if err != nil {
		h.failed(w, r, "messages", err)
		return
	}
	n, err := h.CountMessages(r.Context())
	if err != nil {
		h.failed(w, r, "messages", err)
		return
	}
	lang := tongue(r)
	v := h.page(text.LocalhubBox, who, token)
	v.Box = boxView{Count: lang.N(text.LocalhubBoxCount, n), Newer: before != ""}
	if n == 0 {
		v.Box.Count = lang.T(text.LocalhubBoxEmpty)
	}
	for i, m := range all {
		if i == pageOf {
			v.Box.Older = all[i-1].ID
			break
		}
		v.Box.Rows = append(v.Box.Rows, h.parcel(lang, m))
	}
	h.show(w, r, http.StatusOK, "box", v)
}

func (h *Hub) showParcel(w http.ResponseWriter, r *http.Request, who user, token string) {
	m, err := h.Message(r.Context(), r.PathValue("id"))
	if errors.Is(err, ErrNoMessage) {
		h.message(w, r, http.StatusNotFound, who, token, text.LocalhubNoMessage, text.LocalhubNoMessageBody)
		return
	}
	if err != nil {
		h.failed(w, r, "message", err)
		return
	}
	p := h.parcel(tongue(r), m)
	if err := h.names(&p, tongue(r), m); err != nil {
		h.failed(w, r, "message", err)
		return
	}
	v := h.page(text.LocalhubMessage, who, token)
	v.Box.Rows = []parcelView{p}
	h.show(w, r, http.StatusOK, "parcel", v)
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

func (h *Hub) sendParcel(w http.ResponseWriter, r *http.Request, who user, token string) {
	m, err := h.Message(r.Context(), r.PathValue("id"))
	if errors.Is(err, ErrNoMessage) {
		h.message(w, r, http.StatusNotFound, who, token, text.LocalhubNoMessage, text.LocalhubNoMessageBody)
		return
	}
	var f *os.File
	if err == nil {
		f, err = h.openMessage(m)
	}
	if err != nil {
		h.failed(w, r, "message", err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+m.ID+`.zip"`)
	// A large one takes as long as it takes.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(longest))
	http.ServeContent(w, r, "", m.Received, f)
}

func (h *Hub) parcel(lang text.Language, m Message) parcelView {
	layout := "02-01-2006 15:04"
	if lang == text.English {
		layout = "2 Jan 2006 15:04"
	}
	return parcelView{
		ID: m.ID, Received: m.Received.Format(layout), Sender: legible(m.Sender), Organisation: legible(m.OrganisationCode), Intermediary: legible(m.Intermediary),
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
