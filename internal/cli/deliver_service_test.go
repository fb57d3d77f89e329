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
	exits(t, 0, "", "deliver", "service", "systemd").
		says("[Unit]\n", "[Service]\n", "[Install]\n", "\nExecStart=", " deliver --profile ", " --watch ", "--intermediary")
	task := exits(t, 0, "", "deliver", "service", "task").out
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
	exits(t, 2, "", "deliver", "service", "cron")
}

// TestProvisionIsSeen: a new secret alone has a running Wiebelt look again.
func TestProvisionIsSeen(t *testing.T) {
	dir := newSender(t).profile
	dirs := must.Get(profile.Find(dir))(t)
	before := settings.Fingerprint(dirs)
	exits(t, 0, "another\n", "provision", "--profile", dir, "--secret-stdin")
	if settings.Fingerprint(dirs) == before {
		t.Error("nothing is seen of a new secret")
	}
	exits(t, 0, "", "settings", "--profile", dir).says("hub.intermediary")
}
