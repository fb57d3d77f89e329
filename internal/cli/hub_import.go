package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/localhub"
	"wiebelt/internal/text"
)

type hubImportCmd struct {
	hubData
	Check   bool
	Replace bool
	File    string `arg:""`
}

func (c *hubImportCmd) format() (localhub.Format, error) {
	switch strings.ToLower(filepath.Ext(c.File)) {
	case ".csv", ".tsv", ".txt":
		return localhub.CSV, nil
	case ".json", ".jsonl", ".ndjson":
		return localhub.JSON, nil
	}
	return 0, usageError(text.OutputHubSuffix)
}

func (c *hubImportCmd) Run(e *env) error {
	format, err := c.format()
	if err != nil {
		return err
	}
	info, err := os.Stat(c.File) // before opening it: opening a pipe would block, and could not be stopped
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return text.Errorf(text.OutputNoFile)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.withData(e, func(d *localhub.Data) error {
		notes := importNotes{}
		report := newImportReport(e, info.Size(), isTerminal(e.err))
		n, err := d.Import(e.ctx, f, format, localhub.ImportOptions{
			Replace: c.Replace, Check: c.Check, Progress: report.progress, Warn: notes.add,
		})
		report.end()
		if wrong, ok := errors.AsType[*localhub.ImportError](err); ok {
			for _, line := range wrong.Lines() {
				fmt.Fprintln(e.err, displaytext.Truncate(line.In(e.lang()), 1000))
			}
			return exitError(exitFailed, text.OutputHubErrors)
		}
		if err != nil {
			return err
		}
		notes.show(e, format)
		if c.Check {
			e.printText(text.OutputHubCanTake, n)
			return nil
		}
		all, err := d.Count(e.ctx)
		if err != nil {
			return err
		}
		e.printText(text.OutputHubTaken, n, all)
		return nil
	})
}

// importNotes counts what was imported but may not be as intended, with
// the first row of each.
type importNotes map[text.Key]*struct{ count, first int }

func (n importNotes) add(w localhub.RowError) {
	note := n[w.Problem.Key]
	if note == nil {
		note = &struct{ count, first int }{first: w.Row}
		n[w.Problem.Key] = note
	}
	note.count++
}

func (n importNotes) show(e *env, f localhub.Format) {
	for _, kind := range []struct{ of, says text.Key }{{text.LocalhubImportShort, text.OutputHubShort}, {text.LocalhubImportNoNumber, text.OutputHubUnreachable}} {
		if note := n[kind.of]; note != nil {
			fmt.Fprintln(e.err, e.T(kind.says, note.count, f.RowLabel(note.first)))
		}
	}
}

// importReport shows an import's progress: a bar on a terminal, and one line at the end.
type importReport struct {
	e    *env
	size int64
	bar  *progressbar.ProgressBar
	rows int
}

func newImportReport(e *env, size int64, shown bool) *importReport {
	return &importReport{e: e, size: size, bar: newBar(e.err, e.T(text.OutputHubReading), size, shown, progressbar.OptionShowBytes(true))}
}

func (r *importReport) progress(rows int, bytes int64) {
	r.rows = rows
	if bytes >= r.size { // the whole file was read; a full bar would vanish
		r.bar.Describe(r.e.T(text.OutputHubStoring))
		return
	}
	_ = r.bar.Set64(bytes)
}

func (r *importReport) end() {
	endBar(r.bar)
	fmt.Fprintln(r.e.err, r.e.T(text.OutputHubRead, r.rows))
}
