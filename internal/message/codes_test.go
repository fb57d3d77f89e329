package message

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestEveryCodeIsSeen: each code has a severity, and a crafted file shows it.
func TestEveryCodeIsSeen(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[Code]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				s, _ := strconv.Unquote(lit.Value)
				all[Code(s)] = true
			}
		}
		return true
	})
	if len(all) != len(severities) || len(Codes()) != len(all) {
		t.Errorf("%d codes, %d severities", len(all), len(severities))
	}
	for c := range all {
		if severities[c] == 0 {
			t.Errorf("%s has no severity", c)
		}
	}
	seen := func(found []Finding) {
		for _, f := range found {
			delete(all, f.Code)
		}
	}
	for _, c := range zipCases() {
		seen(inspect(t, c.zip, Options{}).Findings)
	}
	for _, c := range xmlCases() {
		_, found, _ := Read(strings.NewReader(c.xml), Limits{})
		seen(found)
	}
	for c := range all {
		t.Errorf("no crafted file shows %s", c)
	}
}

// TestReportSurvivesJSON: what is stored of a report decides the same.
func TestReportSurvivesJSON(t *testing.T) {
	for _, c := range zipCases() {
		r := inspect(t, c.zip, Options{})
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got Report
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for _, strict := range []bool{false, true} {
			if got.Sendable(strict) != r.Sendable(strict) || got.String() != r.String() {
				t.Errorf("%s: %v, was %v", c.name, &got, r)
			}
		}
	}
	var s Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil {
		t.Error(s)
	}
	var none *Report
	if none.Sendable(false) {
		t.Error("no report is sendable")
	}
}
