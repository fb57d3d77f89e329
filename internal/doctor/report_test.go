package doctor

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// complete checks a line as it is printed.
func complete(t *testing.T, c Check) {
	t.Helper()
	for _, s := range []string{c.Message, c.Hint} {
		if strings.Contains(s, "%!") || strings.ContainsAny(s, "\n\r\t\x1b") || strings.Contains(s, "doctor.") || strings.Contains(s, "failure.") {
			t.Errorf("%s: %q", c.ID, s)
		}
	}
	if c.Message == "" || (c.State == Warn || c.State == Fail) && c.Hint == "" {
		t.Errorf("%s: %+v says not what to do", c.ID, c)
	}
}

// TestOneTable checks that help, guide and window list the checks that run.
func TestOneTable(t *testing.T) {
	if ids := slices.Sorted(maps.Keys(checks)); !slices.Equal(ids, slices.Sorted(slices.Values(text.DoctorChecks))) {
		t.Errorf("%v run, %v are listed", ids, text.DoctorChecks)
	}
	for _, id := range text.DoctorChecks {
		for _, l := range []text.Language{text.Dutch, text.English} {
			for _, key := range []text.Key{text.DoctorName(id), text.DoctorAbout(id)} {
				if l.T(key) == string(key) {
					t.Errorf("%s has no text in %s", key, l)
				}
			}
		}
	}
}

var (
	idLike    = regexp.MustCompile(`^[a-z]+(\.[a-z]+)?$`)
	stateLike = regexp.MustCompile(`^(ok|warn|fail|off)$`)
)

// shaped checks JSON against the documented shape.
func shaped(t *testing.T, b []byte) Report {
	t.Helper()
	var top map[string]json.RawMessage
	var list []map[string]any
	if err := json.Unmarshal(b, &top); err != nil || !slices.Equal(slices.Sorted(maps.Keys(top)), []string{"checks", "ok"}) {
		t.Fatalf("%v: %s", err, b)
	}
	must.Do(t, json.Unmarshal(top["checks"], &list))
	failed := false
	var ids []string
	for _, c := range list {
		if !slices.Equal(slices.Sorted(maps.Keys(c)), []string{"hint", "id", "message", "state"}) {
			t.Errorf("%v", c)
		}
		id, _ := c["id"].(string)
		state, _ := c["state"].(string)
		if message, _ := c["message"].(string); message == "" || !idLike.MatchString(id) || !stateLike.MatchString(state) {
			t.Errorf("%v", c)
		}
		if _, isText := c["hint"].(string); !isText {
			t.Errorf("%v", c)
		}
		failed = failed || state == "fail" || state == "warn"
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if string(top["ok"]) != strconv.FormatBool(!failed) {
		t.Errorf("ok is %s with failed %v", top["ok"], failed)
	}
	if !slices.Equal(ids, text.DoctorChecks) {
		t.Errorf("ids %v", ids)
	}
	var r Report
	must.Do(t, json.Unmarshal(b, &r))
	return r
}

// of returns the check with this id.
func (r Report) of(t *testing.T, id string) Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %s", id)
	return Check{}
}

// states returns the states of a check's lines.
func (r Report) states(id string) (all []string) {
	for _, c := range r.Checks {
		if c.ID == id {
			all = append(all, string(c.State))
		}
	}
	return all
}
