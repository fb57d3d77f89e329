package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/address"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/installed"
	"wiebelt/internal/resident"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

type runCmd struct {
	Background bool `hidden:""`
}

func (c *runCmd) Run(e *env, d profile.Dirs) error {
	self, err := os.Executable() // not what was typed, which may lack its .exe
	if err != nil {
		return err
	}
	if e.build.Console && !c.Background {
		return startResident(e.profileDir, false)
	}
	s := e.load(d)
	log, file, closed := e.residentLog(d, s.Log.Level)
	defer closed()
	o := resident.Options{Dirs: d, ProfileDir: e.profileDir, Exe: self, Settings: s,
		Version: e.build.Version, Commit: e.build.Commit, Log: log, ShowCalls: !c.Background}
	if file != nil {
		o.LogLevel = file.SetLevel
	}
	err = resident.Run(e.ctx, o)
	if errors.Is(err, resident.ErrReplaced) {
		closed()
		return startResident(e.profileDir, true)
	}
	if errors.Is(err, instance.ErrRunning) {
		if c.Background {
			return nil
		}
		cfg := e.instance(d, log)
		return resident.ShowCalls(e.ctx, cfg)
	}
	return err
}

// newest is our program in the newest version that is installed.
func newest() (string, error) {
	exe, err := os.Executable()
	return installed.NewestOf(exe), err
}

// startResident starts the resident so that it goes on without us, in the newest
// version that is installed.
func startResident(profileDir string, background bool) error {
	exe, err := newest()
	if err != nil {
		return err
	}
	var args []string
	if profileDir != "" {
		args = append(args, "--profile", profileDir)
	}
	args = append(args, "run")
	if background {
		args = append(args, "--background")
	}
	return instance.StartDetached(nil, exe, args...)
}

// ringCmd stands in the help only; ring does the work.
type ringCmd struct {
	State     string `default:"ringing"`
	ID        string `name:"id"`
	Name      string
	Line      string
	Via       string
	Direction string `default:"incoming"`
	Stdin     bool
	Twinkle   bool
	NoStart   bool     `name:"no-start"`
	Number    []string `arg:"" optional:"" passthrough:"partial"`
}

func (ringCmd) Run(*env) error { return wrong(text.RingFlag) }

// ring hands a call over; args are those behind "ring".
func (e *env) ring(args []string) error {
	r, err := ring.Parse(args, os.Getenv, e.in)
	e.profileDir, e.language = r.Profile, text.Language(r.Language)
	if key, known := ringFaults[err]; known {
		return wrong(key)
	}
	if err == nil && !r.Nothing {
		err = e.handOver(r)
	}
	if r.Answer != "" { // Twinkle rings when it has read it, whatever became of the call here
		fmt.Fprint(e.out, r.Answer)
	}
	return err
}

var ringFaults = map[error]text.Key{ring.ErrFlag: text.RingFlag, ring.ErrState: text.RingState, ring.ErrDirection: text.RingDirection,
	ring.ErrProfile: text.RingProfile, ring.ErrInput: text.RingInput, ring.ErrTwinkle: text.RingTwinkle}

func (e *env) handOver(r ring.Request) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	err = r.HandOver(e.ctx, e.instance(d, nil), newest)
	for _, why := range []error{instance.ErrNotRunning, instance.ErrQuit, ring.ErrNoScreen} {
		if errors.Is(err, why) {
			return &failure{exitNotRunning, why}
		}
	}
	return err
}

// openURLCmd stands in the help only; openURL does the work.
type openURLCmd struct{}

func (openURLCmd) Run(e *env) error { return e.wrongLone("open-url", "URI") }

// openURL does nothing at all with what is not exactly one link.
func (e *env) openURL(args []string) error {
	r, err := ring.ParseLink(args)
	e.profileDir = r.Profile
	switch {
	case errors.Is(err, ring.ErrLone):
		return e.wrongLone("open-url", "URI")
	case err != nil:
		return &failure{exitUsage, err}
	}
	return e.handOver(r)
}

func (e *env) wrongLone(command, what string) error {
	return wrong(text.OutputUsageLone, command, commandline.Place(e.lang(), what))
}

type lookupCmd struct {
	JSON   bool   `name:"json"`
	Number string `arg:""`
}

type lookupAnswer struct {
	Number   string          `json:"number"`
	Outcome  string          `json:"outcome"`
	Possible bool            `json:"possible"`
	Contacts []lookupContact `json:"contacts"`
	Error    *lookupFault    `json:"error,omitempty"`
}

type lookupFault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type lookupCoded struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

type lookupContact struct {
	ID                      string `json:"id"`
	BackofficeRelatienummer string `json:"backofficerelatienummer"`
	Voorletters             string `json:"voorletters"`
	Achternaam              string `json:"achternaam"`
	Voorvoegsel             string `json:"voorvoegsel"`
	Woonadres               struct {
		Straat     string `json:"straat"`
		Huisnummer string `json:"huisnummer"`
		Toevoeging string `json:"toevoeging"`
		Postcode   string `json:"postcode"`
		Plaats     string `json:"plaats"`
		LandISO    string `json:"landIso"`
	} `json:"woonadres"`
	Producent           lookupCoded `json:"producent"`
	LaatstGewijzigdDoor lookupCoded `json:"laatstGewijzigdDoor"`
	Link                string      `json:"link"`
	LinkOK              bool        `json:"link_ok"`
}

func (c *lookupCmd) Run(e *env, d profile.Dirs) error {
	s := e.load(d)
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		return err
	}
	if err := c.findNumber(rules); err != nil {
		return err
	}
	n := rules.Parse(c.Number, "")
	if address.Validate(c.Number) != nil && n.Kind != phone.External {
		return wrong(text.OutputNoNumber)
	}
	a := lookupAnswer{Number: cmp.Or(n.E164, n.Digits), Possible: n.Foreign, Contacts: []lookupContact{}}
	switch {
	case n.Kind == phone.Withheld:
		a.Outcome = "withheld"
	case n.Kind == phone.Own:
		a.Outcome = "own"
	case !n.Lookup():
		a.Outcome = "short"
	default:
		e.ask(&a, d, s, n)
	}
	if err := c.print(e, a); err != nil {
		return err
	}
	switch a.Outcome {
	case "found":
		return nil
	case "failed", "not_set_up":
		if c.JSON {
			return &failure{code: exitFailed}
		}
		return &failure{exitFailed, errors.New(a.Error.Message)} // in the language of the run
	}
	return &failure{code: exitNotFound}
}

// findNumber takes the number out of what was pasted.
func (c *lookupCmd) findNumber(rules *phone.Rules) error {
	all := rules.Find(c.Number)
	if len(all) > 1 {
		var shown []string
		for _, n := range all {
			shown = append(shown, n.Display())
		}
		return wrong(text.LookupWhich, strings.Join(shown, ", "))
	}
	c.Number = cmp.Or(all[0].E164, all[0].Digits, c.Number)
	return nil
}

func (c *lookupCmd) print(e *env, a lookupAnswer) error {
	if c.JSON {
		return json.NewEncoder(e.out).Encode(a)
	}
	if a.Possible && len(a.Contacts) > 0 {
		e.say(text.OutputLookupPossible)
	}
	for _, k := range a.Contacts {
		fmt.Fprintln(e.out, k.line())
	}
	if key, said := map[string]text.Key{"none": text.OutputLookupNone, "short": text.OutputLookupShort, "own": text.OutputLookupOwn,
		"withheld": text.OutputLookupWithheld}[a.Outcome]; said {
		fmt.Fprintln(e.err, e.T(key))
	}
	return nil
}

// line is a contact on a line: relation number, name, address and the link that would
// be opened, as far as they are there.
func (k lookupContact) line() string {
	w, link := k.Woonadres, ""
	if k.LinkOK { // any other can hold whatever the hub put there, a terminal's commands included
		link = k.Link
	}
	var parts []string
	for _, words := range [][]string{{k.BackofficeRelatienummer}, {k.Voorletters, k.Voorvoegsel, k.Achternaam},
		{w.Straat, w.Huisnummer, w.Toevoeging}, {w.Postcode, w.Plaats}, {link}} {
		if s := strings.Join(strings.Fields(strings.Join(words, " ")), " "); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

func contactJSON(k contact.Contact, links *hub.Links) lookupContact {
	var o lookupContact
	o.ID, o.BackofficeRelatienummer = k.ID, k.RelationNumber
	o.Voorletters, o.Voorvoegsel, o.Achternaam = k.Initials, k.Prefix, k.FamilyName
	w := &o.Woonadres
	w.Straat, w.Huisnummer, w.Toevoeging = k.Address.Street, k.Address.Number, k.Address.Addition
	w.Postcode, w.Plaats, w.LandISO = k.Address.PostalCode, k.Address.City, k.Address.Country
	o.Producent = lookupCoded(k.Producer)
	o.LaatstGewijzigdDoor = lookupCoded(k.LastModifiedBy)
	o.Link = k.Link
	_, err := links.Check(k.Link)
	o.LinkOK = err == nil
	return o
}
