package doctor

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/address"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/logfile"
)

// ErrExists means that there is already something at the bundle's path. Nothing is ever
// overwritten, and no link is followed.
var ErrExists = errors.New("something is already there")

// Entry is a file in the bundle.
type Entry struct {
	Name string
	Data []byte
}

const (
	maxLog         = 16 << 20 // of one log file; ours are smaller
	collectTimeout = 5 * time.Second
)

// Collect returns the content of the bundle: the report, the settings without personal or
// secret values, the redacted log and last crash, and what is known about the computer.
// Nothing of the history is included.
func Collect(ctx context.Context, cfg Config, r Report) ([]Entry, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	known, ok := start(ctx, collectTimeout, func(ctx context.Context) *redactor { return newRedactor(ctx, cfg) }).wait(ctx,
		collectTimeout+grace)
	if !ok {
		return nil, errors.New("what has to be taken out could not be read in time")
	}
	facts, ok := start(ctx, collectTimeout, func(ctx context.Context) string { return environment(ctx, cfg, known) }).wait(ctx,
		collectTimeout+grace)
	if !ok {
		facts = "the desktop did not answer\n"
	}
	all := []Entry{
		{"doctor.json", append(b, '\n')},
		{"settings.txt", []byte(settingsText(cfg.Settings, known))},
		{"environment.txt", []byte(facts)},
	}
	for _, path := range logfile.Files(cfg.Dirs.Log()) {
		e, err := logEntry(path, known)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func logEntry(path string, known *redactor) (Entry, error) {
	name := filepath.Base(path)
	b, err := filetrust.ReadPlain(path, maxLog)
	switch {
	case errors.Is(err, filetrust.ErrTooLarge):
		return Entry{"log/" + name, []byte("left out: larger than the program writes\n")}, nil
	case err != nil:
		return Entry{}, fmt.Errorf("%s cannot be read", name)
	case name == logfile.CrashName:
		return Entry{"log/" + name, []byte(known.cleanCrash(string(b)))}, nil
	}
	return Entry{"log/" + name, known.cleanLog(b)}, nil
}

// CheckNew returns ErrExists if there is anything at path, even a dangling link.
func CheckNew(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return ErrExists
	}
	return nil
}

// Write writes the bundle to path, completely or not at all, readable only by its owner.
func Write(path string, all []Entry) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	now := time.Now()
	for _, e := range all {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: now})
		if err != nil {
			return err
		}
		if _, err := w.Write(e.Data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	err := profile.CreateFile(path, b.Bytes(), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// plainKeys lists the free-text settings that a help desk needs and that reveal nothing
// about people. For all others, the bundle only contains whether they are set.
var plainKeys = map[string]bool{
	"hub.base_url": true, "hub.hub_url": true, "hub.contact_scopes": true, "hub.delivery_scopes": true, "hub.relation_number_field": true,
	"hub.client_id": true, "hub.organisation_code": true, "hub.intermediary": true, "hub.proxy": true,
	"phone.region": true, "phone.internal_prefixes": true, "listener.allowed_origins": true, "relay.url": true, "relay.fingerprint": true, "card.hotkey": true, "card.hotkey_open": true, "card.hotkey_hear": true, "card.hotkey_close": true, "card.fields": true,
}

// plainValues lists values of free-text settings that are shown as they are.
var plainValues = map[string]bool{"tel": true, "sip": true, "off": true, "active": true, "primary": true}

func settingsText(s *settings.Settings, known *redactor) string {
	types := map[string]settings.Type{}
	for _, k := range settings.Keys() {
		types[k.Key] = k.Type
	}
	var b strings.Builder
	for _, v := range s.Values() {
		key := v.Key
		if !keyLike().MatchString(key) {
			key = "?"
		}
		value := v.Value
		switch t, inTable := types[v.Key]; {
		case value == "", v.Source == settings.Default:
		case strings.HasSuffix(v.Key, "_scopes"): // "Basic" and a word behind it look like a header
			var each []string
			for _, w := range strings.Fields(value) {
				each = append(each, known.clean(w))
			}
			value = strings.Join(each, " ")
		case strings.HasPrefix(v.Key, "line[") && strings.HasSuffix(v.Key, ".number"):
			value = maskNumber(value)
		case strings.HasPrefix(v.Key, "softphone[") && strings.HasSuffix(v.Key, ".kind"):
			value = known.clean(value)
		case strings.HasPrefix(v.Key, "softphone[") && strings.HasSuffix(v.Key, ".address"):
			value = known.clean(settings.ServerPart(value))
		case inTable && t != settings.Text && t != settings.List, plainKeys[v.Key], inTable && plainValues[value]:
			value = known.clean(value)
		default:
			value = "set"
		}
		fmt.Fprintf(&b, "%s\t%s\t%s", key, oneLine(value), v.Source)
		if v.Problem != "" {
			b.WriteString("\twrong")
		}
		b.WriteByte('\n')
	}
	for _, p := range s.Problems() {
		key := p.Key
		if !keyLike().MatchString(key) {
			key = "?"
		}
		fmt.Fprintf(&b, "problem\t%s\t%s\t%s\tline %d\n", key, p.Kind, p.Source, p.Line)
	}
	return b.String()
}

// maskNumber reduces a telephone number to its length and its last two digits, enough for
// its owner to recognise it.
func maskNumber(number string) string {
	digits := address.OnlyDigits(number)
	if len(digits) < 6 {
		return "set"
	}
	return strings.Repeat("•", len(digits)-2) + digits[len(digits)-2:]
}
