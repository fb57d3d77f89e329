package logfile

import "testing"

// Times stay whole, and what stands behind "Basic" goes whole or, where it is the
// hub's scope, not at all.
func TestScrubKeepsTimesAndTakesCredentialsWhole(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T14:22:37.123456789+01:00":                "2026-11-21T14:22:37.123456789+01:00",
		"2026-11-21T14:22:37Z from 0612345678":               "2026-11-21T14:22:37Z from [number]",
		"2026-11-21 14:22:37 0612345678":                     "2026-11-21 14:22:37 [number]",
		"2026-11-21T14:22:37.06123456789 x":                  "2026-11-21T14:22:37.[number] x", // no fraction is that long
		`{"time":"2026-11-21T14:22:37.1Z"}`:                  `{"time":"2026-11-21T14:22:37.1Z"}`,
		"scopes Basic P0boxadministrator orgCode:1234":       "scopes Basic P0boxadministrator orgCode:1234",
		"scopes=Basic%20P0boxadministrator%20orgCode%3A1234": "scopes=Basic%20P0boxadministrator%20orgCode%3A1234",
		"Basic P0boxadministrator:hunter2!x":                 "Basic [token]",
		"Authorization: Basic P0box:hunter2,and;more":        "Authorization: Basic [token]",
		"Authorization: Basic%20cDBib3g6c2VjcmV0":            "Authorization: Basic%20[token]",
		`"Authorization": "Bearer a:b{c}"`:                   `"Authorization": "Bearer [token]"`,
		`{"client_secret":"ab\"cd ef"}`:                      `{"client_secret":"[secret]"}`,
		"client_secret=abc&grant_type=client_credentials":    "client_secret=[secret]&grant_type=client_credentials",
		"password: p&q,r;s":                                  "password: [secret]",
		"password = 'two words'":                             "password = '[secret]'",
		"the secret is missing":                              "the secret is missing",
		"basic rules":                                        "basic rules",
	} {
		if got := Scrub(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
