package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

// TestConstantsFollowTheCatalogue checks that ../keys.go was generated from the texts there are.
func TestConstantsFollowTheCatalogue(t *testing.T) {
	want := must.Get(source(assets.Text, must.Get(os.ReadFile("../computed.go"))(t)))(t)
	if !bytes.Equal(must.Get(os.ReadFile("../keys.go"))(t), want) {
		t.Error("keys.go is of another catalogue; run: go generate ./internal/text")
	}
}

// TestNames checks which keys get a constant and what it is called.
func TestNames(t *testing.T) {
	computed := []byte(`func Doctor(found string) Key { return Key("doctor.found." + found) }`)
	for _, c := range []struct{ file, want string }{
		{`{"card.nobody.left": 0}`, `CardNobodyLeft Key = "card.nobody.left"`},
		{`{"card.no_link": 0, "card.all": 0}`, "CardAll    Key = \"card.all\"\n\tCardNoLink Key = \"card.no_link\""},
		{`{"card.client_id": 0, "doctor.found.disk": 0}`, `CardClientID Key = "card.client_id"`},
		{`{"card.a_b": 0, "card.a.b": 0}`, ""},
		{`{"card.no-name": 0}`, ""},
		{`{"1card": 0}`, ""},
		{`{`, ""},
	} {
		got, err := source(fstest.MapFS{"text/card.json": {Data: []byte(c.file)}}, computed)
		_, got, _ = bytes.Cut(got, []byte("const (\n"))
		if s := strings.Trim(string(got), "\t\n)"); s != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.file, s, err)
		}
	}
}
