package localhub

import (
	"archive/zip"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/text"
)

const (
	boxPath  = "/messages"
	pageSize = 50  // messages per page
	maxNames = 200 // files of a ZIP listed on a page
)

type boxView struct {
	Count    string // number of messages
	Messages []Message
	Older    string // id of the last message shown, if there are older ones
	Newer    bool   // not the first page
}

type deliveredView struct {
	Message
	Names []linkView // Detail is the size
	More  string     // how many names were left out, "" for none
}

func (h *Hub) showBox(w http.ResponseWriter, r *http.Request, who User) error {
	before := r.URL.Query().Get("before")
	if before != "" && uuid.Validate(before) != nil {
		before = ""
	}
	all, err := h.Messages(r.Context(), before, pageSize+1)
	if err != nil {
		return err
	}
	n, err := h.CountMessages(r.Context())
	if err != nil {
		return err
	}
	lang := language(r)
	v := boxView{Count: lang.N(text.LocalhubBoxCount, n), Newer: before != ""}
	if n == 0 {
		v.Count = lang.T(text.LocalhubBoxEmpty)
	}
	if len(all) > pageSize {
		all, v.Older = all[:pageSize], all[pageSize-1].ID
	}
	v.Messages = all
	return h.show(w, r, http.StatusOK, "box", lang.T(text.LocalhubBox), who, v)
}

func (h *Hub) requestedMessage(r *http.Request) (Message, error) {
	m, err := h.Message(r.Context(), r.PathValue("id"))
	if errors.Is(err, ErrNoMessage) {
		err = &pageError{http.StatusNotFound, text.LocalhubNoMessage, text.LocalhubNoMessageBody}
	}
	return m, err
}

func (h *Hub) showMessage(w http.ResponseWriter, r *http.Request, who User) error {
	m, err := h.requestedMessage(r)
	if err != nil {
		return err
	}
	lang := language(r)
	v := deliveredView{Message: m}
	if err := h.names(&v, lang); err != nil {
		return err
	}
	return h.show(w, r, http.StatusOK, "delivered", lang.T(text.LocalhubMessage), who, v)
}

// names reads the names of the files in a ZIP. It was checked on arrival, so its
// directory is of limited size.
func (h *Hub) names(v *deliveredView, lang text.Language) error {
	f, err := h.openMessage(v.Message)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zip.NewReader(f, v.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are only displayed
		return err
	}
	for _, e := range z.File {
		if e.FileInfo().IsDir() {
			continue
		}
		if len(v.Names) == maxNames {
			v.More = lang.N(text.LocalhubMessageMore, v.Files-maxNames)
			break
		}
		v.Names = append(v.Names, linkView{Name: legible(strings.ToValidUTF8(e.Name, "?")), Detail: lang.Size(int64(e.UncompressedSize64))})
	}
	return nil
}

func (h *Hub) sendMessage(w http.ResponseWriter, r *http.Request, _ User) error {
	m, err := h.requestedMessage(r)
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
	// Large files may take long.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxDuration))
	http.ServeContent(w, r, "", m.Received, f)
	return nil
}
