package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wiebelt/internal/hub"
)

// Type is the type of a key's value.
type Type string

// The types. Durations are texts such as "60s", dates such as "2027-01-31".
const (
	Text     Type = "text"
	Choice   Type = "choice"
	Number   Type = "number"
	Flag     Type = "flag"
	Duration Type = "duration"
	Date     Type = "date"
	List     Type = "list"
	Tables   Type = "tables" // [[line]], [[softphone]]
)

// Entry is one key of the table, or one field of [[line]] or [[softphone]].
type Entry struct {
	Key                      string // "hub.base_url"; of a field "softphone.kind"
	Type                     Type
	Choices                  []string // for Choice, and for List if its elements are limited
	Min, Max                 int      // for Number
	MinDuration, MaxDuration time.Duration
	Audience                 Audience

	def    any
	strict any // value if a setting is unreadable, see applyStrictest; nil means the default
	get    func(*Settings) any
	set    func(*Settings, any)
	read   func(raw any) (any, *rejection) // from a file's or Go's value to the field's type

	// For Tables, instead of read.
	fields   []Entry
	edited   func(change any, s *Settings) any // the list itself, if change is a function
	rows     func(v any) [][]string            // the fields of each element
	elements func(raw any, report reporter) any
}

// MaxMessageDays is the most for delivery.keep_sent and delivery.keep_refused.
const MaxMessageDays = 3650

// Audience is who should set a key. A policy may set every key.
type Audience string

// AnyUser is everybody at the computer. Admin is the person who sets Wiebelt up: such keys
// are on the page for administrators.
const (
	AnyUser Audience = "user"
	Admin   Audience = "admin"
)

// adminKeys are the groups, and keys of other groups, for administrators.
var adminKeys = []string{"hub.", "support.", "phone.region", "phone.internal_digits", "phone.internal_prefixes", "phone.never_lookup",
	"line.", "listener.", "softphone.", "relay.", "card.privacy", "card.hide_from_capture", "history.keep", "history.days", "lookup.", "audit", "scheme.", "delivery.", "log."}

func audienceOf(key string) Audience {
	for _, k := range adminKeys {
		if strings.HasPrefix(key, k) {
			return Admin
		}
	}
	return AnyUser
}

// rejection is why a value is rejected. What is expected is the form, if that
// is wrong, followed by what the key allows.
type rejection struct {
	kind ProblemKind
	form string
}

// CardFields are the optional fields of a card in their usual order. Name, number and link
// are always shown, and with an empty list nothing else.
var CardFields = []string{"relation_number", "address", "producer", "last_modified_by"}

// table holds every key; [[line]] and [[softphone]] are in lists, see tables.go. A new key
// also needs its field in Settings and its words in assets/text/setting.json, and may need:
//   - adminKeys, if an administrator sets it
//   - withStrictest, if the default is not the safe value for an unreadable policy
//   - excludedKeys in package setupfile, if it is not part of a set-up file
//   - example in package templates, if it has no default
//   - settingsPlan in ui/settings, for its place in the window
//   - settings_window.choice.KEY.VALUE in assets/text/settings_window.json, if it is a choice
//   - setting.allowed.KEY in assets/text/setting.json, if it is a text, a date or a list
var table = []Entry{
	text("hub.base_url", "", func(s *Settings) *string { return &s.Hub.BaseURL }, hubURL),
	text("hub.hub_url", "", func(s *Settings) *string { return &s.Hub.HubURL }, hubURL),
	text("hub.client_id", "", func(s *Settings) *string { return &s.Hub.ClientID }, clientID),
	text("hub.organisation_code", "", func(s *Settings) *string { return &s.Hub.OrganisationCode }, scopeToken),
	text("hub.contact_scopes", hub.DefaultScopes, func(s *Settings) *string { return &s.Hub.ContactScopes }, scopes),
	text("hub.delivery_scopes", hub.DefaultScopes, func(s *Settings) *string { return &s.Hub.DeliveryScopes }, scopes),
	choice("hub.basic_auth_encoding", func(s *Settings) *string { return &s.Hub.BasicAuthEncoding }, "plain", "rfc6749"),
	choice("hub.scope_parameter", func(s *Settings) *string { return &s.Hub.ScopeParameter }, "scopes", "scope"),
	text("hub.relation_number_field", "", func(s *Settings) *string { return &s.Hub.RelationField }, freeText(100)),
	text("hub.intermediary", "", func(s *Settings) *string { return &s.Hub.Intermediary }, segment),
	choice("hub.secret_store", func(s *Settings) *string { return &s.Hub.SecretStore }, "os", "file", "machine"),
	date("hub.secret_expires", func(s *Settings) *time.Time { return &s.Hub.SecretExpires }),
	text("hub.proxy", "system", func(s *Settings) *string { return &s.Hub.Proxy }, proxy),
	text("hub.extra_ca_file", "", func(s *Settings) *string { return &s.Hub.ExtraCAFile }, absolute),
	duration("hub.lookup_timeout", 5*time.Second, time.Second, time.Minute, func(s *Settings) *time.Duration { return &s.Hub.LookupTimeout }),
	flag("hub.open_at_start", false, func(s *Settings) *bool { return &s.Hub.OpenAtStart }),

	text("support.contact", "", func(s *Settings) *string { return &s.Support.Contact }, freeText(200)),

	text("phone.region", "NL", func(s *Settings) *string { return &s.Phone.Region }, region),
	number("phone.internal_digits", 4, 0, 8, func(s *Settings) *int { return &s.Phone.InternalDigits }),
	list("phone.internal_prefixes", func(s *Settings) *[]string { return &s.Phone.InternalPrefixes }, prefix),
	list("phone.never_lookup", func(s *Settings) *[]string { return &s.Phone.NeverLookup }, numberText),
	text("phone.call_back", "tel", func(s *Settings) *string { return &s.Phone.CallBack }, callBack),

	flag("listener.enabled", true, func(s *Settings) *bool { return &s.Listener.Enabled }),
	number("listener.port", 27471, 1024, 65535, func(s *Settings) *int { return &s.Listener.Port }),
	list("listener.allowed_origins", func(s *Settings) *[]string { return &s.Listener.AllowedOrigins }, webOrigin),
	flag("listener.http", true, func(s *Settings) *bool { return &s.Listener.HTTP }),

	text("relay.url", "", func(s *Settings) *string { return &s.Relay.URL }, relayURL),
	text("relay.fingerprint", "", func(s *Settings) *string { return &s.Relay.Fingerprint }, fingerprint),

	choice("card.corner", func(s *Settings) *string { return &s.Card.Corner }, "bottom-right", "bottom-left", "top-right", "top-left"),
	text("card.monitor", "active", func(s *Settings) *string { return &s.Card.Monitor }, freeText(100)),
	text("card.hotkey", "Ctrl+Alt+W", func(s *Settings) *string { return &s.Card.Hotkey }, shortcut),
	text("card.hotkey_open", "off", func(s *Settings) *string { return &s.Card.HotkeyOpen }, shortcut),
	text("card.hotkey_hear", "off", func(s *Settings) *string { return &s.Card.HotkeyHear }, shortcut),
	text("card.hotkey_close", "off", func(s *Settings) *string { return &s.Card.HotkeyClose }, shortcut),
	duration("card.full_for", time.Minute, 5*time.Second, time.Hour, func(s *Settings) *time.Duration { return &s.Card.FullFor }),
	duration("card.after_call", 20*time.Second, 0, time.Hour, func(s *Settings) *time.Duration { return &s.Card.AfterCall }),
	withStrictest([]string{}, someOf("card.fields", func(s *Settings) *[]string { return &s.Card.Fields }, CardFields)),
	withStrictest("number", choice("card.privacy", func(s *Settings) *string { return &s.Card.Privacy }, "full", "initials", "number")),
	withStrictest(true, flag("card.hide_from_capture", true, func(s *Settings) *bool { return &s.Card.HideFromCapture })),
	withStrictest("hide", choice("card.quiet", func(s *Settings) *string { return &s.Card.Quiet }, "show", "number", "hide")),
	choice("card.auto_open", func(s *Settings) *string { return &s.Card.AutoOpen }, "never", "answered"),
	choice("card.outgoing", func(s *Settings) *string { return &s.Card.Outgoing }, "strip", "card", "off"),
	flag("card.over_fullscreen", true, func(s *Settings) *bool { return &s.Card.OverFullscreen }),
	choice("card.speech", func(s *Settings) *string { return &s.Card.Speech }, "full", "short"),
	choice("card.sound", func(s *Settings) *string { return &s.Card.Sound }, "off", "on"),

	flag("calls.group", false, func(s *Settings) *bool { return &s.Calls.Group }),

	withStrictest("off", choice("history.keep", func(s *Settings) *string { return &s.History.Keep }, "full", "numbers", "off")),
	withStrictest(1, number("history.days", 7, 1, 365, func(s *Settings) *int { return &s.History.Days })),
	withStrictest(false, flag("history.choices", true, func(s *Settings) *bool { return &s.History.Choices })),

	withStrictest(false, flag("lookup.manual", true, func(s *Settings) *bool { return &s.Lookup.Manual })),
	withStrictest("eventlog", choice("audit", func(s *Settings) *string { return &s.Audit }, "off", "eventlog")),
	withStrictest("off", choice("scheme.lookup", func(s *Settings) *string { return &s.Scheme.Lookup }, "ask", "always", "off")),

	number("delivery.keep_sent", 0, 0, MaxMessageDays, func(s *Settings) *int { return &s.Delivery.KeepSent }),
	number("delivery.keep_refused", 30, 0, MaxMessageDays, func(s *Settings) *int { return &s.Delivery.KeepRefused }),
	number("delivery.items_per_request", 1, 1, 100, func(s *Settings) *int { return &s.Delivery.ItemsPerRequest }),
	duration("delivery.settle", 5*time.Second, time.Second, time.Hour, func(s *Settings) *time.Duration { return &s.Delivery.Settle }),
	choice("delivery.uncertain", func(s *Settings) *string { return &s.Delivery.Uncertain }, "hold", "retry"),
	choice("delivery.duplicate", func(s *Settings) *string { return &s.Delivery.Duplicate }, "skip", "send", "refuse"),

	choice("ui.language", func(s *Settings) *string { return &s.UI.Language }, "system", "nl", "en"),
	choice("ui.theme", func(s *Settings) *string { return &s.UI.Theme }, "system", "light", "dark"),
	choice("ui.file_word", func(s *Settings) *string { return &s.UI.FileWord }, "relatie", "klantkaart", "dossier"),

	choice("log.level", func(s *Settings) *string { return &s.Log.Level }, "info", "debug", "warn", "error"),
}

// Keys returns the table.
func Keys() []Entry { return slices.Clone(table) }

// AllEntries returns the table and the fields of [[line]] and [[softphone]].
func AllEntries() []Entry {
	all := Keys()
	for _, e := range lists {
		all = append(all, e.fields...)
	}
	return all
}

// EntryOf returns the entry of a key, which may be an element's: softphone[2].kind.
func EntryOf(key string) (Entry, bool) {
	if array, field, in := strings.Cut(key, "]."); in {
		name, _, _ := strings.Cut(array, "[")
		key = name + "." + field
	}
	if e := entryOf(AllEntries(), key); e != nil {
		return *e, true
	}
	return Entry{}, false
}

// Fields returns the fields of a list of tables in order, nil for any other key.
func Fields(list string) []Entry {
	if e := find(list); e != nil {
		return e.fields
	}
	return nil
}

// Group returns the table of the settings file that contains a key; "" for
// one before all tables.
func (e Entry) Group() string {
	return e.Key[:max(strings.IndexByte(e.Key, '.'), 0)]
}

// Name returns the key within its group.
func (e Entry) Name() string { return e.Key[strings.LastIndexByte(e.Key, '.')+1:] }

// Default returns the value of an unset key, as printed by Values; fields have none.
func (e Entry) Default() string { return e.format(e.def) }

// TOML formats a value of this key, returned by ParseText, for a settings file.
func (e Entry) TOML(v any) string { return tomlLiteral(v) }

func withStrictest(v any, e Entry) Entry {
	e.strict = v
	return e
}

// find returns the entry of a key or a list of tables, nil if there is none.
func find(key string) *Entry { return cmp.Or(entryOf(table, key), entryOf(lists, key)) }

// entryOf returns the entry of a key among all, nil if there is none.
func entryOf(all []Entry, key string) *Entry {
	for i := range all {
		if all[i].Key == key {
			return &all[i]
		}
	}
	return nil
}

// parse reads a value and reports problems; ok is true if there is a value.
func (e *Entry) parse(raw any, report reporter) (v any, ok bool) {
	if e.elements != nil {
		return e.elements(raw, report), true
	}
	v, c := e.read(raw)
	if c != nil {
		report(e.Key, c.kind, c.form+e.allowed())
	}
	return v, c == nil
}

// format writes a value for people and for ParseText.
func (e *Entry) format(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case time.Duration:
		return FormatDuration(v)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.Format(time.DateOnly)
	case []string:
		return strings.Join(v, ", ")
	}
	return ""
}

// FormatDuration formats a duration as 60s, 90s or 20m, never 1m0s.
func FormatDuration(d time.Duration) string {
	switch {
	case d%time.Second != 0:
		return d.String()
	case d%time.Hour == 0 && d > 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0 && d > time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// ParseText reads a key's value from command-line text, such as true, 4, 60s or "a, b", and
// checks it against the table.
func ParseText(key, s string) (any, error) {
	e := find(key)
	if e == nil || e.Type == Tables {
		return nil, Problem{Kind: UnknownKey, Source: User, Key: key}
	}
	v, c := e.read(e.typed(s))
	if c != nil {
		return nil, Problem{Kind: c.kind, Source: User, Key: key, Expected: c.form + e.allowed()}
	}
	return v, nil
}

// typed converts a text to the key's type; if that fails, it stays a text.
func (e *Entry) typed(s string) any {
	switch e.Type {
	case Number:
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			return n
		}
	case Flag:
		if b, err := strconv.ParseBool(strings.TrimSpace(s)); err == nil {
			return b
		}
	case List:
		var parts []string
		for p := range strings.SplitSeq(s, ",") {
			if p = strings.TrimSpace(p); p != "" {
				parts = append(parts, p)
			}
		}
		return parts
	}
	return s
}

// Defaults returns the settings of a user who set nothing.
func Defaults() *Settings {
	s := &Settings{origins: origins{sources: map[string]Source{}, places: map[string]string{}, unsure: map[string]bool{}}}
	for i := range table {
		table[i].set(s, table[i].def)
	}
	return s
}
