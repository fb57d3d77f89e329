package cli

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/text"
)

// notTaken is the outcome of a file that could not be put into the outbox.
const notTaken = "not_taken"

// deliverFile is the outcome for a file, as in reports and --json.
type deliverFile struct {
	File      string `json:"file"`
	ID        string `json:"id"`
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Status    int    `json:"status"`
	Attempts  int    `json:"attempts"`
	Duplicate bool   `json:"duplicate"` // taken before: the rest describes the first time
	Added     string `json:"added"`
	FirstTry  string `json:"first_try"`
	LastTry   string `json:"last_try"`
	Decided   string `json:"decided"`

	Findings deliverFindings `json:"findings"` // from inspecting the file; only the first ones

	Why              string `json:"-"`
	decidedEarly     bool   // decided before it was put into the outbox
	alreadyDelivered bool   // delivered before this run, or as another file of this run
}

// deliverFindings is a list in JSON even if empty.
type deliverFindings []message.Finding

func (d deliverFindings) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]message.Finding(d))
}

// maxWarnings is how many findings of a file are shown in words.
const maxWarnings = 3

// warning describes what is odd about a file that is sent anyway; "" if there is
// nothing worth mentioning.
func (f *deliverFile) warning(l text.Language) string {
	var said []string
	for _, x := range f.Findings {
		if x.Severity < message.Warning {
			continue
		}
		if len(said) == maxWarnings {
			said = append(said, "…")
			break
		}
		s := explainCode(l, string(x.Code))
		if x.Element != "" {
			s += " (" + x.Element + ")"
		}
		said = append(said, s)
	}
	if said == nil {
		return ""
	}
	return l.T(text.DeliveryMind, strings.Join(said, " "))
}

func (f *deliverFile) setAdded(a outbox.Added) {
	f.Duplicate = a.Duplicate
	f.setItem(a.Item)
}

func (f *deliverFile) setItem(it outbox.Item) {
	f.ID, f.SHA256, f.Size = it.ID, it.SHA256, it.Size
	f.Outcome, f.Reason, f.Status, f.Attempts = string(it.State), string(it.Reason), it.Status, it.Attempts
	switch {
	case it.State == outbox.Sending && it.FullyRead: // the hub may have it, however this ends
		f.Outcome, f.Reason = string(outbox.Uncertain), string(outbox.Interrupted)
	case it.State == outbox.Sending:
		f.Outcome = string(outbox.Waiting)
	}
	f.Findings = it.Findings()
	f.Added, f.FirstTry, f.LastTry, f.Decided = stamp(it.Added), stamp(it.FirstTry), stamp(it.LastTry), stamp(it.Decided)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (f *deliverFile) refuse(p deliverContext, err error) {
	f.decidedEarly, f.Outcome, f.Reason, f.Why = true, string(outbox.Refused), "content", err.Error()
	if r, ok := errors.AsType[*outbox.RefusedError](err); ok {
		f.Reason, f.Findings = r.Code, r.Findings
		if r.Code == outbox.CodeUnreadable || r.Code == outbox.CodeNoFile || r.Code == outbox.CodeChanged {
			f.Outcome = notTaken // its content was not checked
		}
		f.Why = cmp.Or(explainCode(p.lang, r.Code), f.Why)
	}
}

// explainCode explains a finding, or why a file was refused; "" for a code of a newer version.
func explainCode(l text.Language, code string) string {
	for _, key := range []text.Key{text.DeliveryReason(code), text.MessageFinding(code)} {
		if s := l.T(key); s != string(key) {
			return s
		}
	}
	return ""
}

func (f *deliverFile) text(p deliverContext) string {
	s := p.lang.T(text.DeliveryState(f.Outcome))
	if why := cmp.Or(f.Why, p.reasonText(f.Reason, f.Status)); why != "" {
		s += ": " + why
	}
	return s
}

type deliverCount struct {
	Delivered int `json:"delivered"` // by this run
	Before    int `json:"before"`    // delivered before
	Refused   int `json:"refused"`
	Uncertain int `json:"uncertain"`
	Waiting   int `json:"waiting"`
	NotTaken  int `json:"not_taken"`
}

type deliverReport struct {
	Started string        `json:"started"`
	Ended   string        `json:"ended"`
	Exit    int           `json:"exit"`
	Hold    string        `json:"hold"`
	Summary deliverCount  `json:"summary"`
	Report  string        `json:"report"`
	Files   []deliverFile `json:"files"`
}

func (r *delivery) update(items []outbox.Item) {
	byID := map[string]outbox.Item{}
	for _, it := range items {
		byID[it.ID] = it
	}
	for i := range r.files {
		if it, ok := byID[r.files[i].ID]; ok && !r.files[i].decidedEarly {
			r.files[i].setItem(it)
		}
	}
}

func countOf(files []deliverFile) (n deliverCount) {
	for _, f := range files {
		switch f.Outcome {
		case string(outbox.Delivered):
			if f.alreadyDelivered {
				n.Before++
			} else {
				n.Delivered++
			}
		case string(outbox.Refused):
			n.Refused++
		case string(outbox.Uncertain):
			n.Uncertain++
		case notTaken:
			n.NotTaken++
		default:
			n.Waiting++
		}
	}
	return n
}

// code returns the exit code for the counts; held means that the queue is on hold.
func (n deliverCount) code(held bool) int {
	switch {
	case n.NotTaken > 0:
		return exitFailed
	case n.Waiting > 0 && held:
		return exitHold
	case n.Uncertain+n.Waiting > 0:
		return exitUncertain
	case n.Refused > 0:
		return exitRefused
	}
	return exitDone
}

func (n deliverCount) line(l text.Language) string {
	s := l.T(text.DeliveryDone, n.Delivered, n.Refused, n.Uncertain, n.Waiting)
	if n.Before > 0 {
		s += l.T(text.DeliveryDoneBefore, n.Before)
	}
	if n.NotTaken > 0 {
		s += l.T(text.DeliveryDoneNotTaken, n.NotTaken)
	}
	return s
}

func (r *delivery) report(code int, held outbox.Reason) deliverReport {
	return deliverReport{Started: stamp(r.started), Ended: stamp(time.Now()), Exit: code, Hold: string(held),
		Summary: countOf(r.files), Files: append([]deliverFile{}, r.files...)}
}

// writeReport writes a report as JSON and as CSV, and returns the path of the JSON file.
func writeReport(dir string, at time.Time, report *deliverReport) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := filepath.Join(dir, "report-"+at.Local().Format("20060102-150405.000"))
	for n := 2; ; n++ { // two reports in the same instant
		path := base + ".json"
		report.Report = path
		b, err := json.MarshalIndent(report, "", " ")
		if err != nil {
			return "", err
		}
		err = profile.CreateFile(path, append(b, '\n'), 0o600)
		if errors.Is(err, os.ErrExist) && n < 1000 {
			base = fmt.Sprintf("%s-%d", filepath.Join(dir, "report-"+at.Local().Format("20060102-150405.000")), n)
			continue
		}
		if err == nil {
			err = profile.WriteFile(base+".csv", reportCSV(report.Files), 0o600)
		}
		if err != nil {
			report.Report = ""
			return "", err
		}
		return path, nil
	}
}

// reportCSV returns the files as a table. No cell is a formula to the
// program that opens it.
func reportCSV(files []deliverFile) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write([]string{"file", "sha256", "outcome", "status", "attempts", "added", "first_try", "last_try", "decided", "reason", "id", "size", "duplicate"})
	for _, f := range files {
		row := []string{f.File, f.SHA256, f.Outcome, strconv.Itoa(f.Status), strconv.Itoa(f.Attempts), f.Added, f.FirstTry, f.LastTry, f.Decided,
			f.Reason, f.ID, strconv.FormatInt(f.Size, 10), strconv.FormatBool(f.Duplicate)}
		for i := range row {
			row[i] = noFormula(row[i])
		}
		_ = w.Write(row) // writes to memory
	}
	w.Flush()
	return b.Bytes()
}

// noFormula puts a quote before what a spreadsheet would evaluate. Line ends and tabs
// become spaces: some spreadsheets begin a cell after them.
func noFormula(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if t := strings.TrimLeft(s, " \u00a0\u3000\ufeff"); t != "" && strings.ContainsRune("=+-@|%＝＋－＠", []rune(t)[0]) {
		return "'" + s
	}
	return s
}
