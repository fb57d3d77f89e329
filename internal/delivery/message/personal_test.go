package message

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// canary stands for everything that is about a person.
const canary = "Kanarie"

// TestNothingPersonalInReports: neither the findings nor an error of Build shows a
// value or a name of a file.
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
