package resident

import (
	"testing"

	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/detect"
)

// TestUnanswered: nobody is asked what settings have answered; the hub's
// settings are no answer to any of the questions.
func TestUnanswered(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                 true,
		"[hub]\nclient_id = \"office\"\n":  true,
		"[card]\ncorner = \"top-left\"\n":  false,
		"[card]\nmonitor = \"primary\"\n":  true,
		"[ui]\nlanguage = \"en\"\n":        false,
		"[[softphone]]\nkind = \"bria\"\n": false,
	} {
		s, problems := settings.Parse(src)
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		if got := unanswered(s); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

// TestLinked: a phone that is connected is not offered once more.
func TestLinked(t *testing.T) {
	links := []settings.Softphone{{Kind: "baresip", Address: "127.0.0.1:4444"}, {Kind: "linphone", Address: "/tmp/lp"}, {Kind: "bria"}}
	for _, tt := range []struct {
		p    detect.Phone
		want bool
	}{
		{detect.Phone{Kind: detect.Baresip, Address: "127.0.0.1:4444"}, true},
		{detect.Phone{Kind: detect.Baresip, Address: "127.0.0.1:4445"}, false},
		{detect.Phone{Kind: detect.Linphone, Address: "lp"}, true},
		{detect.Phone{Kind: detect.Linphone, Address: "other"}, false},
		{detect.Phone{Kind: detect.Bria}, true},
		{detect.Phone{Kind: detect.MicroSIP, File: "x"}, false},
	} {
		if got := linked(tt.p, links); got != tt.want {
			t.Errorf("%+v: %v", tt.p, got)
		}
	}
}
