package cli

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

// TestNoFormulas checks that no table cell is calculated, whatever a file is called.
func TestNoFormulas(t *testing.T) {
	files := []deliverFile{}
	names := []string{"=1+1.zip", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1", "|cmd", "%0", "plain.zip", `quo"te,comma`, "a\nb", "\ufeff=1"}
	for _, n := range names {
		files = append(files, deliverFile{File: n, Reason: n, ID: n})
	}
	rows, err := csv.NewReader(bytes.NewReader(reportCSV(files))).ReadAll()
	if err != nil || len(rows) != len(names)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if len(row) != len(rows[0]) {
			t.Errorf("%q: %d cells", names[i], len(row))
		}
		for _, cell := range row {
			if s := strings.TrimLeft(cell, " \u00a0\ufeff"); s != "" && strings.ContainsAny(s[:1], "=+-@|%\t\r") || strings.HasPrefix(s, "＝") {
				t.Errorf("%q is a formula: %q", names[i], cell)
			}
			if strings.ContainsAny(cell, "\t\r\n") {
				t.Errorf("%q: %q", names[i], cell)
			}
		}
	}
}

func FuzzFormula(f *testing.F) {
	for _, s := range []string{"=1", " =1", "'=1", "a", "\u200b=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := noFormula(s)
		if got != "" && strings.ContainsAny(got[:1], "=+-@\t\r\n") {
			t.Errorf("%q became %q", s, got)
		}
	})
}
