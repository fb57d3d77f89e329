package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
)

// TestDeliverService: the files for a server come out whole, and nothing else.
func TestDeliverService(t *testing.T) {
	code, unit, errOut := run(t, "", "deliver", "service", "systemd")
	if code != 0 || errOut != "" {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for _, want := range []string{"[Unit]\n", "[Service]\n", "[Install]\n", "\nExecStart=", " deliver --profile ", " --watch ", "--intermediary"} {
		if !strings.Contains(unit, want) {
			t.Errorf("no %q in the unit", want)
		}
	}
	code, task, errOut := run(t, "", "deliver", "service", "task")
	if code != 0 || errOut != "" {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	var root, all string
	for d := xml.NewDecoder(strings.NewReader(task)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = token.Name.Local
			}
		case xml.CharData:
			all += string(token)
		}
	}
	if root != "Task" || !strings.Contains(all, "wiebelt.exe") || !strings.Contains(all, "--watch") {
		t.Errorf("a %s: %s", root, all)
	}
	if code, out, _ := run(t, "", "deliver", "service", "cron"); code != 2 || out != "" {
		t.Errorf("exit %d, %q", code, out)
	}
}

// TestProvisionIsSeen: a new secret alone has a running Wiebelt look again.
func TestProvisionIsSeen(t *testing.T) {
	dir, _ := setUpDelivery(t)
	dirs := must.Get(profile.Find(dir))(t)
	before := settings.Fingerprint(dirs)
	if code, _, errOut := run(t, "another\n", "provision", "--profile", dir, "--secret-stdin"); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	if settings.Fingerprint(dirs) == before {
		t.Error("nothing is seen of a new secret")
	}
	_, all, _ := run(t, "", "settings", "--profile", dir)
	if !strings.Contains(all, "hub.intermediary") {
		t.Error(all)
	}
}
