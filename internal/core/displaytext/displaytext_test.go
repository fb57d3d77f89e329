package displaytext

import "testing"

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"bericht é Çelik 李.zip":         "bericht é Çelik 李.zip",
		"a\u009b31mb":                   "a31mb",    // a C1 control begins a command as ESC [ does
		"a\x1b[31mb\x7f":                "a[31mb",   // ESC itself
		"x\u202ezip.exe":                "xzip.exe", // shown as xexe.piz
		"a\u2066b\u2069\u200fc":         "abc",
		"two\r\nlines\u0085a\u2028b\tc": "two  lines a b c",
		"no UTF-8 \xff\x9b":             "no UTF-8 ",
		"longer than ten":               "longer tha…",
	} {
		n := 100
		if in == "longer than ten" {
			n = 10
		}
		if got := Truncate(in, n); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
