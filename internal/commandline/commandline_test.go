package commandline

import (
	"io"
	"testing"

	"wiebelt/internal/text"
)

type everywhere struct{ Profile string }

type counting struct{ To int }

func (counting) Run() error { return nil }

type commands struct {
	everywhere
	Count  counting `cmd:""`
	Number counting `cmd:"" name:"count-up"`
}

// TestOneCommandIsMadeReady: the others take time to make ready; what was read stands
// where it belongs all the same.
func TestOneCommandIsMadeReady(t *testing.T) {
	dutch := func() text.Language { return text.Dutch }
	for _, c := range []struct {
		args  []string
		ready int
		want  commands
	}{
		{[]string{"count", "--to", "3", "--profile=p"}, 1, commands{everywhere{"p"}, counting{3}, counting{}}},
		{[]string{"count-up", "--to=4"}, 1, commands{everywhere{}, counting{}, counting{4}}},
		{[]string{"--profile", "p", "count"}, 2, commands{everywhere: everywhere{"p"}}},
	} {
		var all commands
		k, err := Parse(&all, "test", dutch, &Output{Writer: io.Discard}, io.Discard, c.args)
		if err != nil || len(k.Model.Children) != c.ready || all != c.want {
			t.Errorf("%v: %+v, %v", c.args, all, err)
		}
	}
	for _, args := range [][]string{{"count", "--till", "3"}, {"counts"}, {"number"}} {
		if _, err := Parse(&commands{}, "test", dutch, &Output{Writer: io.Discard}, io.Discard, args); err == nil {
			t.Errorf("%v is a command", args)
		}
	}
}

// TestHelpOf: what a group of commands or a program says of a flag of all its commands is
// not what another one says.
func TestHelpOf(t *testing.T) {
	for part, want := range map[string]string{"hub.import": "Folder of the hub.", "hub.client.add": "Folder of the hub.",
		"hub.serve":            "Keep the database in DIR; without it everything is gone at the end.",
		"wiebelt-relay.status": "The relay's data folder (else /var/lib/wiebelt-relay, on Windows %ProgramData%\\Wiebelt\\relay)."} {
		if got := HelpOf(text.English, part, "--data"); got != want {
			t.Errorf("%s: %q", part, got)
		}
	}
}
