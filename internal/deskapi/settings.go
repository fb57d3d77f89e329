package deskapi

// Kinds of messages of the settings window, to the resident.
const (
	KindSettingsAsk    = "settings.ask"    // no content: SettingsState answers at once, settings.kept when the store has
	KindSettingsSave   = "settings.save"   // SettingsSave; SettingsSaved answers
	KindSettingsTest   = "settings.test"   // SettingsTest; SettingsStep, then SettingsTested answer
	KindSettingsStop   = "settings.stop"   // no content: end the test that runs, forget the set-up file
	KindSettingsFile   = "settings.file"   // SettingsFile: open a set-up file; SettingsOffice answers
	KindSettingsTake   = "settings.take"   // SettingsTake: test it and take it over; answers as for a test, then SettingsTaken
	KindSettingsSecret = "settings.secret" // SettingsSecretAsk; settings.kept answers
)

// Kinds of messages to the settings window.
const (
	KindSettingsState  = "settings.state"
	KindSettingsSaved  = "settings.saved"
	KindSettingsStep   = "settings.step"
	KindSettingsTested = "settings.tested"
	KindSettingsOffice = "settings.office"
	KindSettingsTaken  = "settings.taken"
	KindSettingsKept   = "settings.kept"  // SettingsSecret
	KindSettingsOffer  = "settings.offer" // no content: there is something new to ask for
)

// KindOpenFile is a command's: show this set-up file in the settings window.
const KindOpenFile = "open-file"

// OpenFile names a set-up file by its absolute path.
type OpenFile struct {
	Path string `json:"path"`
}

// SettingsState is every setting as it holds now. Secrets are never in it.
type SettingsState struct {
	Values   []SettingsValue `json:"values"` // of the table, in its order
	Lines    []SettingsLine  `json:"lines"`
	Phones   []SettingsPhone `json:"phones"`
	LinesBy  string          `json:"lines_by,omitempty"` // as Value.By
	PhonesBy string          `json:"phones_by,omitempty"`
	// More are lists too long for a message, by their keys: they are shown by
	// their length and changed in the file.
	More     map[string]int `json:"more,omitempty"`
	Expiry   string         `json:"expiry,omitempty"` // a sentence for administrators, "" if there is nothing to say
	Expired  bool           `json:"expired,omitempty"`
	Problems []string       `json:"problems,omitempty"` // of the files, a line each
	Monitors []string       `json:"monitors,omitempty"` // of this computer, by name
	Hotkey   string         `json:"hotkey,omitempty"`   // why the keys of card.hotkey do not work, as a sentence
	Support  string         `json:"support"`
	Path     string         `json:"path"`           // of the settings file
	File     string         `json:"file,omitempty"` // a set-up file that somebody has opened
}

// SettingsValue is a setting as text, in the form of settings.ParseText.
type SettingsValue struct {
	Key    string `json:"key"`
	Text   string `json:"text"`
	Source string `json:"source"`       // default, user, policy
	By     string `json:"by,omitempty"` // where the policy stands that locks it
}

// SettingsLine is one of our own numbers.
type SettingsLine struct {
	Number string `json:"number"`
	Name   string `json:"name"`
}

// SettingsPhone is a link to a softphone.
type SettingsPhone struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Address   string `json:"address"`
	Extension string `json:"extension"`
	User      string `json:"user"`
	Phase     string `json:"phase"` // as in DoctorLink
	Why       string `json:"why,omitempty"`
}

// SettingsSecretAsk asks how the secret of an address and client is kept.
type SettingsSecretAsk struct {
	BaseURL string `json:"base_url"`
	Client  string `json:"client"`
	Store   string `json:"store"`
}

// SettingsSecret tells how a secret is kept, never what it is.
type SettingsSecret struct {
	BaseURL string `json:"base_url"`
	Client  string `json:"client"`
	State   string `json:"state"`        // of package secret
	On      string `json:"on,omitempty"` // the day, as 2026-01-31, if it is known
	// Phones are the states of the links' secrets, by the links' names; nil where
	// only the hub's was asked for.
	Phones map[string]string `json:"phones,omitempty"`
}

// SettingsChange sets a key to a text, or takes it out so that the default holds.
type SettingsChange struct {
	Key   string `json:"key"`
	Text  string `json:"text"`
	Reset bool   `json:"reset,omitempty"`
}

// SettingsSave asks to keep what was changed: all of it, or nothing.
type SettingsSave struct {
	Seq     int              `json:"seq"`
	Changes []SettingsChange `json:"changes,omitempty"`
	Lines   *[]SettingsLine  `json:"lines,omitempty"`
	Phones  *[]SettingsPhone `json:"phones,omitempty"`
	Secret  string           `json:"secret,omitempty"`  // of the hub's client
	Secrets []PhoneSecret    `json:"secrets,omitempty"` // of links
}

// String gives nothing away.
func (SettingsSave) String() string { return "settings to save" }

// GoString is String, so that %#v tells no more.
func (s SettingsSave) GoString() string { return s.String() }

// PhoneSecret is the secret of a link.
type PhoneSecret struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

// String gives nothing away.
func (PhoneSecret) String() string { return "secret of a link" }

// GoString is String.
func (s PhoneSecret) GoString() string { return s.String() }

// SettingsSaved tells how saving went.
type SettingsSaved struct {
	Seq      int      `json:"seq"`
	OK       bool     `json:"ok"`
	Bad      []string `json:"bad,omitempty"`      // keys with values that are not allowed, or locked
	Sentence string   `json:"sentence,omitempty"` // what else there is to say
}

// SettingsTest asks for a test of the hub as it stands in the window.
type SettingsTest struct {
	Seq     int              `json:"seq"`
	Changes []SettingsChange `json:"changes,omitempty"` // on top of what holds
	Secret  string           `json:"secret,omitempty"`  // "" for the one that is kept for that address and client
	Number  string           `json:"number,omitempty"`
}

// String gives nothing away.
func (SettingsTest) String() string { return "settings to test" }

// GoString is String.
func (s SettingsTest) GoString() string { return s.String() }

// SettingsStep is how one step of a test went, in words.
type SettingsStep struct {
	Seq      int    `json:"seq"`
	Step     string `json:"step"`               // of text.SetupStep
	State    string `json:"state"`              // running, ok, failed, off
	Sentence string `json:"sentence,omitempty"` // how it went
	Detail   string `json:"detail,omitempty"`   // for administrators
	Said     string `json:"said,omitempty"`     // by the hub, in its own words: text from outside
	Do       string `json:"do,omitempty"`       // what helps, and who does it
}

// SettingsTested ends a test.
type SettingsTested struct {
	Seq    int              `json:"seq"`
	OK     bool             `json:"ok"`
	Why    string           `json:"why,omitempty"`    // it could not even begin
	Better []SettingsChange `json:"better,omitempty"` // values that worked where those of the window did not
}

// SettingsFile asks to open a set-up file.
type SettingsFile struct {
	Seq        int    `json:"seq"`
	Path       string `json:"path"`
	Passphrase string `json:"passphrase"`
}

// String gives nothing away.
func (SettingsFile) String() string { return "set-up file to open" }

// GoString is String.
func (s SettingsFile) GoString() string { return s.String() }

// SettingsOffice is what stands in a set-up file, beside what holds now.
type SettingsOffice struct {
	Seq   int           `json:"seq"`
	Why   string        `json:"why,omitempty"` // it cannot be opened or taken over, as a sentence
	Rows  []SettingsRow `json:"rows,omitempty"`
	Moved bool          `json:"moved,omitempty"` // the hub's address becomes another one
}

// SettingsRow is a setting as it is and as it would be.
type SettingsRow struct {
	Key string `json:"key"`
	Now string `json:"now"`
	New string `json:"new"`
}

// SettingsTake asks to take over the set-up file that is shown.
type SettingsTake struct {
	Seq    int    `json:"seq"`
	Number string `json:"number,omitempty"` // to be looked up as part of the test
}

// SettingsTaken tells how that went.
type SettingsTaken struct {
	Seq int    `json:"seq"`
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"`
}
