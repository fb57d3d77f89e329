package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/logfile"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
)

// redactor removes from a text what it knows to be secret or personal,
// and what looks like it.
type redactor struct{ known *strings.Replacer }

// maxCalls is how many calls of the history are read to know what to remove.
const maxCalls = 20_000

// replacements maps what to remove to its replacement.
type replacements map[string]string

func (w replacements) add(as string, values ...string) {
	for _, v := range values {
		if v = strings.TrimSpace(v); utf8.RuneCountInString(v) >= 4 {
			w[v] = as
		}
	}
}

// addPerson adds a name, and its parts that begin with a capital letter.
func (w replacements) addPerson(name string) {
	w.add("[name]", name)
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
		if r, _ := utf8.DecodeRuneInString(part); unicode.IsUpper(r) {
			w.add("[name]", part)
		}
	}
}

// replacer replaces all of them, longer ones first: one may contain another.
func (w replacements) replacer() *strings.Replacer {
	var pairs []string
	for _, v := range slices.SortedFunc(maps.Keys(w), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, v, w[v])
	}
	return strings.NewReplacer(pairs...)
}

// newRedactor collects what this computer knows about people and secrets. It reads the
// history only for that, and passes none of it on.
func newRedactor(ctx context.Context, cfg Config) *redactor {
	out := replacements{}
	out.addSettings(cfg.Settings)
	out.add("[secret]", secretsOf(ctx, cfg)...)
	if exists(filepath.Join(cfg.Dirs.State, secret.TokensName)) {
		if t, err := secret.EnsureTokens(cfg.Dirs); err == nil {
			out.add("[token]", t.Socket, t.Path)
		}
	}
	calls, _ := history.People(ctx, fromsettings.HistoryFile(cfg.Dirs), maxCalls) // none if it cannot be read
	for _, name := range slices.Concat(calls["name"], calls["via"], calls["taken_by"]) {
		out.addPerson(name)
	}
	out.add("[name]", slices.Concat(calls["line"], calls["contact_id"])...)
	out.add("[number]", slices.Concat(calls["number"], calls["shown"], calls["relation_number"], calls["line_number"])...)
	out.add("[address]", calls["link"]...)
	out.addComputer()
	return &redactor{out.replacer()}
}

func (w replacements) addSettings(s *settings.Settings) {
	w.addPerson(s.Support.Contact)
	for _, l := range s.Lines {
		w.add("[name]", l.Name)
		w.add("[number]", l.Number)
	}
	w.add("[number]", s.Phone.NeverLookup...)
	for _, p := range s.Softphones {
		if p.Name != p.Kind { // else it has no name of its own
			w.add("[name]", p.Name)
		}
		w.add("[name]", p.User)
		w.add("[number]", p.Extension, p.ExtensionOf(settings.LogOnName()))
	}
}

func (w replacements) addComputer() {
	if home, err := os.UserHomeDir(); err == nil && len(home) > 3 {
		w[home] = "~"
	}
	if u, err := user.Current(); err == nil && u.Uid != "0" {
		w.addPerson(u.Name)
		w.add("[name]", u.Username, u.Username[strings.LastIndexByte(u.Username, '\\')+1:])
	}
	if host, err := os.Hostname(); err == nil {
		w.add("[name]", host)
	}
}

// secretsOf returns the secrets for the settings, as far as their stores
// return them in time.
func secretsOf(ctx context.Context, cfg Config) []string {
	s := cfg.Settings
	store := secret.Open(s.Hub.SecretStore, cfg.Dirs)
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	var all []string
	if ref, err := secret.HubRef(s.Hub.BaseURL, s.Hub.ClientID); err == nil {
		old, next, _ := secret.Pair(ctx, store, ref)
		all = append(all, old, next)
	}
	for _, p := range s.Softphones {
		if ref, err := secret.SoftphoneRef(p.Kind, p.Name, p.Address); err == nil && registry.Of(p.Kind).Reach != registry.ByPhone {
			v, _ := store.Get(ctx, ref)
			all = append(all, v)
		}
	}
	return all
}

// quoted matches text that errors quote from elsewhere.
var quoted = lazyregexp.New(`"(?:[^"\\]|\\.)*"|“[^”]*”`)

// clean removes what is known, what is quoted and what looks like a number, a token,
// a secret or an address.
func (r *redactor) clean(s string) string {
	return logfile.Scrub(quoted().ReplaceAllString(r.known.Replace(s), "[text]"))
}

var (
	logKey   = lazyregexp.New(`^[a-z][a-z_.]{0,29}$`)
	logLevel = lazyregexp.New(`^(?:DEBUG|INFO|WARN|ERROR)(?:[+-]\d)?$`)
)

// cleanLog rewrites a log file: the time, level, message and fields of every line, each cleaned.
// A placeholder replaces lines that we did not write.
func (r *redactor) cleanLog(b []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var fields map[string]any
		var head struct {
			Time  time.Time
			Level string
			Msg   string
		}
		if d.Decode(&fields) != nil || json.Unmarshal(line, &head) != nil || head.Time.IsZero() || !logLevel().MatchString(head.Level) {
			out.WriteString("{\"msg\":\"[a line that is not ours]\"}\n")
			continue
		}
		rest := map[string]any{}
		for k, v := range fields {
			if k != "time" && k != "level" && k != "msg" {
				rest[r.cleanKey(k)] = r.cleanValue(k, v)
			}
		}
		kept, err := json.Marshal(struct {
			Time   time.Time      `json:"time"`
			Level  string         `json:"level"`
			Msg    string         `json:"msg"`
			Fields map[string]any `json:"fields,omitempty"`
		}{head.Time, head.Level, r.clean(head.Msg), rest})
		if err != nil {
			continue // cannot happen: it came from JSON
		}
		out.Write(append(kept, '\n'))
	}
	return out.Bytes()
}

func (r *redactor) cleanKey(k string) string {
	if !logKey().MatchString(k) || r.known.Replace(k) != k {
		return "?"
	}
	return k
}

func (r *redactor) cleanValue(key string, v any) any {
	switch v := v.(type) {
	case bool, nil:
		return v
	case json.Number:
		if len(v.String()) > 8 {
			return "[number]"
		}
		return v
	case string:
		if key == "name" { // of a link
			return "[name]"
		}
		return r.clean(v)
	case map[string]any:
		group := map[string]any{}
		for k, x := range v {
			group[r.cleanKey(k)] = r.cleanValue(k, x)
		}
		return group
	}
	return "[…]"
}

// crashLine matches lines of a crash report that only contain names of functions
// and files, and addresses. A panic value may contain anything; only the runtime's
// own reasons are kept.
var crashLine = lazyregexp.New(`^(?:` + strings.Join([]string{
	``,
	`goroutine \d+ (?:gp=0x[0-9a-f]+ )?(?:m=\S{1,6} )?(?:mp=0x[0-9a-f]+ )?\[[a-zA-Z0-9 ,()]{1,80}\]:`,
	`(?:created by )?[\w./*()\[\]·{}-]{1,300}\((?:[0-9a-fx{}, ?_.]|\.\.\.)*\)`,
	`created by [\w./*()\[\]·-]{1,300}(?: in goroutine \d+)?`,
	`\t[\w./@:\\ ~-]{1,400}\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?(?: fp=0x[0-9a-f]+ sp=0x[0-9a-f]+ pc=0x[0-9a-f]+)?`,
	`panic: runtime error: [a-z0-9 \[\]:,()x-]{1,160}`,
	`fatal error: (?:all goroutines are asleep - deadlock!|concurrent map (?:writes|read and map write|iteration and map write)|stack overflow|out of memory|sync: unlock of unlocked mutex)`,
	`runtime: (?:goroutine stack exceeds \d+-byte limit|out of memory: [a-z0-9 ()-]{1,80})`,
	`\[signal [A-Za-z0-9 :=_-]{1,160}\]`,
	`(?:r[a-z0-9]{1,3}|rflags|[cfg]s|eflags|pc|lr|sp|fault) +0x[0-9a-f]+`,
	`exit status \d+`,
}, `|`) + `)$`)

// cleanCrash keeps the lines of a crash report that cannot contain anything personal.
func (r *redactor) cleanCrash(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		switch cleaned := r.known.Replace(line); {
		case crashLine().MatchString(line):
			b.WriteString(cleaned)
		case strings.HasPrefix(line, "panic: "):
			b.WriteString("panic: [text]")
		default:
			b.WriteString("[text]")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
