package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"wiebelt/internal/localhub"
	"wiebelt/internal/plain"
	"wiebelt/internal/text"
)

type hubImportCmd struct {
	hubData
	Check   bool   `help:"Only check the file; nothing is changed."`
	Replace bool   `help:"The contacts of the file replace all that the hub has."`
	File    string `arg:"" help:"FILE.csv or FILE.json."`
}

// Help is what "wiebelt hub import --help" says below the flags.
func (c *hubImportCmd) Help() string {
	return `Every contact of the file is taken, or none. The hub may be running on the folder: it goes on answering.

A CSV file has a header row, and comma, semicolon or tab between its fields; UTF-8, UTF-16 and Windows-1252 are recognised:

    id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;toevoeging;postcode;plaats;landIso;producent_code;producent;gewijzigd_code;gewijzigd;telefoon;telefoon2;email
    c-1;100203;J.M.;van der;Berg;Lindelaan;12;A;1234AB;Ons Dorp;NL;P001;Kantoor Ons Dorp;MJO;M. de Jong;06-12345678;020 123 4567;jm.berg@example.org

Columns, in any order; only achternaam or voorletters is required:

    id                            A-Z a-z 0-9 - . _ ~; made up if empty, and then another one with every import
    backofficerelatienummer       digits; any name that ends in relatienummer
    voorletters, voorvoegsel, achternaam
    straat, huisnummer, toevoeging, postcode, plaats, landIso
                                  also as woonadres.straat and so on
    producent_code, producent     also as producent.code, producent.description
    gewijzigd_code, gewijzigd     also as laatstGewijzigdDoor.code, laatstGewijzigdDoor.description
    telefoon, telefoon2, ...      up to 20 numbers in any notation; ; or | between several in one field
    email, email2, ...            up to 20 addresses, in the same way
    link                          is not looked at

Capitals, spaces, _ and - in the names make no difference. Another name is an error: a mistyped one would lose numbers unseen. A field has up to 512 bytes, a row up to 1 MiB.

A JSON file (.json, .jsonl, .ndjson) holds records with the names of the Contact API and with "telefoon" and "email", each a text or an array of texts: as an answer of that API, as an array, or one after the other:

    {"data":{"items":[{"achternaam":"Berg","woonadres":{"straat":"Lindelaan"},"telefoon":["06-12345678"]}]}}

Errors name the line (CSV) or the record (JSON, counted from 1) and the column, never what is in it. An id that is there already is an error without --replace.

A hub with invented contacts takes others only with --replace, and while it does not run: it may be a demo, whose password all know.`
}

// format follows from the name of the file.
func (c *hubImportCmd) format() (localhub.Format, error) {
	switch strings.ToLower(filepath.Ext(c.File)) {
	case ".csv", ".tsv", ".txt":
		return localhub.CSV, nil
	case ".json", ".jsonl", ".ndjson":
		return localhub.JSON, nil
	}
	return 0, wrong(text.SayHubSuffix)
}

func (c *hubImportCmd) Run(e *env) error {
	format, err := c.format()
	if err != nil {
		return err
	}
	info, err := os.Stat(c.File) // before it is opened: opening a pipe would wait, and could not be stopped
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return text.Errorf(text.SayNoFile)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.with(e, func(d *localhub.Data) error {
		var notes importNotes
		report := newImportReport(e.err, info.Size())
		n, err := d.Import(e.ctx, f, format, localhub.ImportOptions{
			Replace: c.Replace, Check: c.Check, Progress: report.progress, Warn: notes.add,
		})
		report.end()
		var wrong *localhub.ImportError
		if errors.As(err, &wrong) {
			for _, line := range wrong.Lines() {
				fmt.Fprintln(e.err, plain.Line(line, 1000))
			}
			return fail(exitFailed, text.SayHubErrors)
		}
		if err != nil {
			return err
		}
		notes.show(e, format)
		if c.Check {
			e.say(text.SayHubCanTake, n)
			return nil
		}
		all, err := d.Count(e.ctx)
		if err != nil {
			return err
		}
		e.say(text.SayHubTaken, n, all)
		return nil
	})
}

// importNotes count what was taken and may not be as meant.
type importNotes struct {
	short, unreachable int
	firstShort         int
	firstUnreachable   int
}

func (n *importNotes) add(w localhub.RowError) {
	switch w.Problem {
	case localhub.WarnShort:
		if n.short++; n.short == 1 {
			n.firstShort = w.Row
		}
	case localhub.WarnNoNumber:
		if n.unreachable++; n.unreachable == 1 {
			n.firstUnreachable = w.Row
		}
	}
}

func (n *importNotes) show(e *env, f localhub.Format) {
	if n.short > 0 {
		fmt.Fprintln(e.err, e.T(text.SayHubShort, n.short, f.Where(n.firstShort)))
	}
	if n.unreachable > 0 {
		fmt.Fprintln(e.err, e.T(text.SayHubUnreachable, n.unreachable, f.Where(n.firstUnreachable)))
	}
}

// importReport shows how far an import is: a bar on a terminal, one line at the
// end elsewhere.
type importReport struct {
	w     io.Writer
	size  int64
	bar   *progressbar.ProgressBar // nil without a terminal
	rows  int
	bytes int64
}

func newImportReport(w io.Writer, size int64) *importReport {
	r := &importReport{w: w, size: size}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.bar = importBar(w, size)
	}
	return r
}

func importBar(w io.Writer, size int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("reading"),
		progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
}

func (r *importReport) progress(rows int, bytes int64) {
	r.rows, r.bytes = rows, bytes
	if r.bar == nil {
		return
	}
	if bytes >= r.size { // the whole file was read; a full bar would vanish
		r.bar.Describe("storing")
		return
	}
	_ = r.bar.Set64(bytes)
}

func (r *importReport) end() {
	if r.bar != nil {
		_ = r.bar.Clear()
		_ = r.bar.Exit()
	}
	fmt.Fprintf(r.w, "read %d rows, %.1f MB\n", r.rows, float64(r.bytes)/1e6)
}
