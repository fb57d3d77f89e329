package e2e

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/guide"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/testutil/ptytest"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/text"
)

// TestWalk types every command of the README and of the guide's pages for administrators
// as written (simulated calls faster), at a terminal, in its own home and network, with a copy of /etc.
func TestWalk(t *testing.T) {
	t.Parallel()
	bin := must.Get(binary())(t)
	flags := "-mnpf"
	if os.Getuid() != 0 {
		flags = "-Urmnpf"
	}
	if processtest.Alone(t, func(cmd *exec.Cmd) {
		etc, share := t.TempDir(), t.TempDir()
		if out, err := exec.Command("cp", "-a", "/etc/.", etc).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		processtest.Inside(t, cmd, "unshare", flags, "--kill-child", "--mount-proc", "sh", "-c",
			`ip link set lo up && mount --bind "$1" /etc && mount --bind "$2" /usr/local/share && shift 2 && exec "$@"`,
			"sh", etc, share)
		screen := xtest.Start(t, "openbox", xtest.Options{Width: width, Height: height})
		cmd.Env = append(screen.Env(), "WIEBELT_BIN="+filepath.Dir(bin))
	}) {
		walkInside(t)
	}
}

// walk is a newcomer following the pages.
type walk struct {
	t       *testing.T
	home    string
	dir     string // where the commands are typed
	env     []string
	secret  string // of the local hub's client
	running []*exec.Cmd
}

// walkInside walks in the process of TestWalk that is alone.
func walkInside(t *testing.T) {
	t.Helper()
	must.Do(t, os.MkdirAll("/etc/wiebelt", 0o755))
	// Like a computer without a vault where the administrator has configured that.
	must.Do(t, os.WriteFile("/etc/wiebelt/policy.toml", []byte("[hub]\nsecret_store = \"file\"\n"), 0o644))
	w := &walk{t: t}
	home := t.TempDir()
	w.home, w.dir = home, filepath.Join(home, "work")
	run := filepath.Join(home, "run")
	for _, d := range []string{w.dir, run, filepath.Join(w.dir, "night"), filepath.Join(w.dir, "FOLDER")} {
		must.Do(t, os.MkdirAll(d, 0o700))
	}
	w.env = append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+run, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_DATA_HOME="+filepath.Join(home, "data"),
		"XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "LANG=nl_NL.UTF-8", "LC_ALL=nl_NL.UTF-8", "LANGUAGE=",
		"PATH="+os.Getenv("WIEBELT_BIN")+":"+os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	zip := string(messagetest.ZIP(t, "bericht.xml", document))
	for name, content := range map[string]string{
		"secret.txt": "a-secret-from-a-letter\n", "password.txt": "a-password-of-twelve\n", "list.txt": "# none\n",
		"contacts.csv": "id;achternaam;telefoon\nc-1;Jansen;0201234567\n", "policy.toml": "[history]\nkeep = \"numbers\"\n",
		"night/a.zip": zip, "FOLDER/b.zip": zip,
	} {
		must.Do(t, os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600))
	}
	users := must.Get(os.OpenFile("/etc/passwd", os.O_APPEND|os.O_WRONLY, 0))(t)
	fmt.Fprintf(users, "jan:x:4242:4242::%s/jan:/bin/sh\n", home)
	must.Do(t, users.Close())
	defer w.end("wiebelt")
	w.read("README", readme(t))
	pages := guide.Help(text.Dutch)
	slices.SortStableFunc(pages, func(a, b guide.HelpPage) int { // those in late come last
		return cmp.Compare(slices.Index(late, a.ID), slices.Index(late, b.ID))
	})
	for _, p := range pages {
		if p.Admin || p.ID == "messages" {
			w.before(p)
			w.read(p.ID, p.Text)
		}
	}
}

// late lists the pages whose commands remove what other pages need.
var late = []string{"trouble", "messages", "private", "register", "linux", "windows"}

// document is the smallest well-formed message.
const document = `<?xml version="1.0" encoding="UTF-8"?><Contractdocument><UN><UN_ZENDER>A</UN_ZENDER></UN></Contractdocument>`

// before prepares what a page assumes.
func (w *walk) before(p guide.HelpPage) {
	w.t.Helper()
	switch p.ID {
	case "setup":
		w.end("wiebelt") // the README's hub uses this page's address
	case "linux", "windows": // Wiebelt has been ended before its data is deleted
		w.end("wiebelt")
	case "phones":
		// "It is in the settings."
		toml := ""
		for part := range strings.SplitSeq(p.Text, "\n\n") {
			if strings.HasPrefix(part, "    [[") {
				toml += strings.ReplaceAll(part, "\n    ", "\n") + "\n"
			}
		}
		f := must.Get(os.OpenFile(w.settings(), os.O_APPEND|os.O_WRONLY, 0))(w.t)
		must.Get(f.WriteString("\n" + strings.TrimSpace(toml) + "\n"))(w.t)
		must.Do(w.t, f.Close())
		w.stay("phones", "wiebelt run --background")
	}
}

func (w *walk) settings() string { return filepath.Join(w.home, ".config", "wiebelt", "settings.toml") }

// until polls: programs that start on their own notify no one.
func (w *walk) until(what string, ok func() bool, said ...fmt.Stringer) {
	w.t.Helper()
	must.Soon(w.t, func() (bool, any) { return ok(), fmt.Sprint("no ", what, said) })
}

// read types the commands of a page.
func (w *walk) read(id, page string) {
	for _, line := range commandsOf(page) {
		w.step(id, line)
	}
}

func readme(t *testing.T) string {
	b := must.Get(os.ReadFile("../../README.md"))(t)
	return string(b)
}

var ticked = regexp.MustCompile("`(wiebelt(?:-ring)? [^`]+)`")

// commandsOf are the command lines of a page, in their order.
func commandsOf(page string) (all []string) {
	for _, part := range strings.Split(page, "\n\n") {
		if !strings.HasPrefix(part, "    ") {
			for _, m := range ticked.FindAllStringSubmatch(part, -1) {
				all = append(all, m[1])
			}
			continue
		}
		for _, line := range strings.Split(strings.ReplaceAll(part, "\\\n", " "), "\n") {
			line, _, _ = strings.Cut(line, "    # ")
			if line = strings.Join(strings.Fields(line), " "); strings.HasPrefix(line, "wiebelt ") {
				all = append(all, line)
			}
		}
	}
	return all
}

// placeholders are the words that a page leaves to the reader.
var placeholders = strings.NewReplacer("NUMBER", "0201234567", "NUMMER", "0201234567", "NAME", "box", "NAAM", "box",
	"BESTAND…", "night", "MAP…", "FOLDER", "FILE", "made.html", "BESTAND", "made.html", "MAP", "FOLDER",
	"DIR", "box-hub", "KEY VALUE", "hub.lookup_timeout 5s", "TEKST", "gekeken", "lijst.txt", "list.txt", "LIST", "list.txt", "URI", "wiebelt:call?number=0201234567",
	"geheim.txt", "secret.txt", "zin.txt", "phrase.txt", " ID ", " 1 ")

// outcome is what comes of a command: its exit code, where that is not always 0,
// what is typed when it asks, whether it stays, or whether it is only mentioned.
type outcome struct {
	of     string // the command, as a pattern
	codes  []int
	stays  bool
	named  bool
	answer func(w *walk) string
	shown  bool // what is typed is no secret
}

var outcomes = []outcome{
	{of: `^wiebelt( &)?$`, stays: true},
	{of: `^wiebelt hub( --|$)`, stays: true},
	{of: `^wiebelt deliver --watch`, stays: true},
	{of: `^wiebelt (provision|settings unset|deliver forget|deliver resolve|open-file -- .*)$`, named: true},
	{of: `^wiebelt-ring --twinkle`, named: true},
	{of: `^wiebelt provision --softphone box`, codes: []int{2}}, // there is none of that name
	{of: `^wiebelt join ADDRESS CODE`, named: true},
	{of: `^wiebelt join (https|CODE)`, codes: []int{1}},              // no relay is there
	{of: `^wiebelt settings set relay.fingerprint`, codes: []int{2}}, // a word in its place
	{of: `^wiebelt teams-page`, codes: []int{0, 1}},                  // once
	{of: `^wiebelt provision .*127\.18\.7\.44.*--secret-stdin$`, answer: func(w *walk) string { return w.secret }},
	{of: `^wiebelt provision (--softphone (exchange|centrale) )?--secret-stdin$`, answer: func(*walk) string { return "another-secret" }},
	{of: `^wiebelt provision --secret-store machine --secret-stdin$`, named: true}, // of Windows, where a policy has the rest
	{of: `^wiebelt (lookup|provision --test)`, codes: []int{0, 1, 3}},              // the hub of the examples is not there
	{of: `^wiebelt doctor`, codes: []int{0, 1, 2}},
	{of: `^wiebelt-ring --stdin`, answer: func(*walk) string { return "number=0201234567\r\x04" }, shown: true},
	{of: `^wiebelt doctor --bundle`, codes: []int{0, 1, 2}, answer: func(*walk) string { return "j" }, shown: true},
	{of: `^wiebelt deliver resolve 1 `, codes: []int{3}},
	{of: `^wiebelt deliver (night|drain)`, codes: []int{0, 1, 5, 6, 7}},
	{of: `^wiebelt secret remove link asterisk`, codes: []int{2}}, // there is none of that name
	{of: `^wiebelt secret remove (choices|tokens)`, codes: []int{0, 3}},
	{of: `^wiebelt secret remove hub`, codes: []int{0, 2, 3}}, // once the page on the relay has taken its client away
	{of: `^wiebelt deliver retry`, codes: []int{0, 6}},        // nobody delivers now, which is said
	{of: `^wiebelt settings check`, codes: []int{0}},
}

// outcomeOf is the last one that fits.
func outcomeOf(line string) (found outcome) {
	for _, o := range outcomes {
		if regexp.MustCompile(o.of).MatchString(line) {
			found = o
		}
	}
	if found.codes == nil {
		found.codes = []int{0}
	}
	return found
}

// step types one line.
func (w *walk) step(page, line string) {
	w.t.Helper()
	if strings.ContainsAny(line, "[|") || strings.HasSuffix(line, "…") || strings.Contains(line, "provision …") {
		return // what a command takes, not a command
	}
	typed := placeholders.Replace(line)
	if strings.HasPrefix(typed, "wiebelt settings check") {
		typed = "wiebelt settings check policy.toml"
	}
	o := outcomeOf(typed)
	if o.named {
		return
	}
	if o.stays {
		w.stay(page, typed)
		return
	}
	if page == "phones" && strings.HasPrefix(typed, "wiebelt simulate") {
		// The page has made new keys for it meanwhile.
		w.end("wiebelt run")
		w.stay(page, "wiebelt run --background")
	}
	if strings.HasPrefix(typed, "wiebelt simulate") {
		typed += " --speed 20" // what it plays takes ten seconds and more
	}
	out, code := w.run(typed, o)
	if !slices.Contains(o.codes, code) {
		w.t.Errorf("%s: %s: exit %d, want %v: %s", page, line, code, o.codes, out)
	}
	if strings.HasPrefix(typed, "wiebelt hub client add") {
		w.secret = secretIn(strings.ReplaceAll(out, "\r", ""))
	}
	if w.secret != "" && strings.Contains(out, w.secret) && !strings.Contains(typed, "client add") {
		w.t.Errorf("%s: %s shows the secret", page, line)
	}
}

func (w *walk) command(line string) *exec.Cmd {
	if !strings.HasPrefix(line, "exec ") {
		line = "exec " + line // what is killed is the program
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// run types a line and gives what it says and its exit code.
func (w *walk) run(line string, o outcome) (string, int) {
	x := ptytest.Start(w.t, w.command(line))
	if o.answer != nil {
		if !o.shown {
			w.until("the secret is asked for, hidden", x.Hidden)
		}
		x.Type(o.answer(w) + "\r")
	}
	return x.Wait()
}

// stay starts what runs until the end of the page: a hub, which says when it is
// ready, or the program itself.
func (w *walk) stay(page, line string) {
	hub := strings.HasPrefix(line, "wiebelt hub")
	if hub {
		w.end("wiebelt hub") // two of them have the same address
	}
	cmd := w.command("exec " + strings.TrimSuffix(line, " &"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out := must.Get(cmd.StdoutPipe())(w.t)
	said := &logtest.Buffer{} // written while we read
	cmd.Stderr = said
	must.Do(w.t, cmd.Start())
	w.running = append(w.running, cmd)
	if !hub {
		if line != "wiebelt" && !strings.Contains(line, "--watch") {
			w.until("the program takes calls", func() bool {
				_, err := os.Stat(filepath.Join(w.home, "run", "wiebelt", "listener.json"))
				return err == nil
			}, said)
		}
		return
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	var ready map[string]any
	if err != nil || json.Unmarshal([]byte(first), &ready) != nil {
		w.t.Errorf("%s: %s: %v: %q %s", page, line, err, first, said)
		return
	}
	if strings.Contains(line, "--client ") {
		w.until("the secret is shown", func() bool { return secretIn(said.String()) != "" })
		w.secret = secretIn(said.String())
	}
}

var secretLine = regexp.MustCompile(`[A-Za-z0-9_-]{40,}`)

// secretIn is the secret among what a hub says; "" if there is none.
func secretIn(said string) string { return secretLine.FindString(said) }

// end ends what stays and was started with these words, and maybe more.
func (w *walk) end(with string) {
	w.running = slices.DeleteFunc(w.running, func(cmd *exec.Cmd) bool {
		if line := cmd.Args[len(cmd.Args)-1]; line != "exec "+with && !strings.HasPrefix(line, "exec "+with+" ") {
			return false
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // ended by us
		return true
	})
}
