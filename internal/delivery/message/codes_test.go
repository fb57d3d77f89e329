package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// TestEveryCodeIsSeen: each code has a severity, and a crafted file that causes it.
func TestEveryCodeIsSeen(t *testing.T) {
	tree := must.Get(parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0))(t)
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
	if len(all) != len(severities) {
		t.Errorf("%d codes, %d severities", len(all), len(severities))
	}
	for c := range all {
		if severities[c] == 0 {
			t.Errorf("%s has no severity", c)
		}
	}
	for _, c := range zipCases() {
		for _, f := range inspected(t, c.zip).Findings {
			delete(all, f.Code)
		}
	}
	for _, c := range xmlCases() {
		for code := range strings.FieldsSeq(c.want) { // read by TestCraftedXML
			delete(all, Code(code))
		}
	}
	for c := range all {
		t.Errorf("no crafted file shows %s", c)
	}
}

// TestFindingsSurviveJSON: a stored report leads to the same decision.
func TestFindingsSurviveJSON(t *testing.T) {
	for _, c := range zipCases() {
		r := inspected(t, c.zip)
		b := must.Get(json.Marshal(r.Findings))(t)
		var got Report
		must.Do(t, json.Unmarshal(b, &got.Findings))
		for _, strict := range []bool{false, true} {
			if got.Sendable(strict) != r.Sendable(strict) {
				t.Errorf("%s: %v, was %v", c.name, &got, r)
			}
		}
	}
	var s Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil {
		t.Error(s)
	}
}

// TestEveryCodeHasWords: each has its own text in both languages.
func TestEveryCodeHasWords(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		seen := map[string]Code{}
		for c := range severities {
			k := text.MessageFinding(string(c))
			s := l.T(k)
			if s == string(k) || s == "" {
				t.Errorf("%s has no text", k)
			}
			if other, twice := seen[s]; twice {
				t.Errorf("%s and %s say the same: %q", other, k, s)
			}
			seen[s] = c
		}
	}
}

// canary stands for anything personal.
const canary = "Kanarie"

// TestNothingPersonalInReports: neither the findings nor an error of Build contains
// a value or a file name.
func TestNothingPersonalInReports(t *testing.T) {
	xml := changed("AFZENDER", canary, "19800229", canary, "polis.pdf", canary+".pdf", "<PP>", "<PP><"+canary+" "+canary+`="`+canary+`"/>`,
		"<BY_VOLGNUM>1<", "<BY_VOLGNUM>"+canary+"<", "<UN>", "<UN>"+canary)
	r := inspected(t, crafted{items: []item{{name: canary + ".xml", content: xml}, {name: canary + "?.txt", content: canary}}}.bytes())
	if len(r.Findings) < 6 {
		t.Fatalf("%v", r)
	}
	build := Build(t.Context(), &bytes.Buffer{}, source(canary+"/../..", xml), nil)
	var said strings.Builder
	for _, x := range []any{r, r.Findings, build} {
		fmt.Fprintf(&said, "%v %+v\n", x, x)
	}
	if strings.Contains(said.String(), canary) {
		t.Error(said.String())
	}
}
