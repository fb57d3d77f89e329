package simulate

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wiebelt/assets/scenarios"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/text"
)

// Verb is what happens to a call.
type Verb uint8

// The verbs of a scenario.
const (
	Ring         Verb = iota // a call rings or, if outgoing, is being dialled
	RingAgain                // the same call rings on another device, or is reported again
	Answer                   // it is answered here
	ChangeCaller             // it is passed on: same call, another caller
	End                      // it is over
	Pause                    // time passes
)

var verbs = [...]string{"ring", "again", "answer", "caller", "end", "pause"}

// String returns the verb as written in a scenario.
func (v Verb) String() string { return verbs[v] }

// Step is one line of a scenario.
type Step struct {
	Line int           // in the file, from 1
	At   time.Duration // since the start
	Verb Verb
	Name string // of the call within the scenario
	// Call is what Ring and ChangeCaller say about the call; its ID is empty. No
	// number means withheld.
	Call   Call
	Reason call.Reason // with End
}

// Scenario is a sequence of call events. It is immutable once parsed.
type Scenario struct {
	ID     string            // of a built-in one, "" otherwise
	Title  map[string]string // by language, "nl" and "en"
	Repeat int               // how often to play it; at least 1
	Steps  []Step
}

// Limits of a scenario.
const (
	MaxScenario = 64 << 10 // bytes
	MaxSteps    = 1000
	MaxCalls    = 32 // active at the same time
	MaxRepeat   = 1000
	MaxTime     = 24 * time.Hour
	maxLine     = 1 << 10 // bytes
	maxText     = 128     // bytes of a name, a line or a via
	maxNumber   = 40
)

// Mistake describes what is wrong in a scenario, and where.
type Mistake struct {
	Line int // from 1; 0 means the whole scenario
	Why  error
}

func (m *Mistake) Error() string { return m.In(text.English) }

// In returns the mistake in a language.
func (m *Mistake) In(l text.Language) string {
	if m.Line == 0 {
		return l.Error(m.Why)
	}
	return text.Errorf(text.SimulateBadLine, m.Line, m.Why).In(l)
}

// Parse reads a scenario: UTF-8, one step per line.
//
//	# to the end of the line is a comment
//	title nl: Doorverbonden                     what it is, in either language
//	repeat 3                                    played three times
//	0     ring a number="06 12345678" name="J. de Vries" line="020 123 4567"
//	+1.5  answer a                              a second and a half later
//	4     caller a number="020 123 4567" via=Receptie
//	10    end a                                 ten seconds from the beginning
//
// Times are in seconds, counted from the beginning or, with a plus, from the previous
// step; they never go back. A call has a name of letters, digits, hyphens and
// underscores, which can be reused once the call is over. A caller is described by number
// (or the word withheld), name, line (our number that was called), via (who passed the
// call on) and the word outgoing for a call that we make; a text with spaces is quoted,
// and \" in it is a quote and \\ a backslash. end may be followed by completed, missed,
// elsewhere or rejected; by default it is completed if the call was answered, otherwise
// missed. "again" is the same call ringing on one more device, and "pause" does nothing.
//
// The error is a *Mistake.
func Parse(b []byte) (*Scenario, error) {
	switch {
	case len(b) > MaxScenario:
		return nil, &Mistake{0, text.Errorf(text.SimulateBadLong, MaxScenario)}
	case !utf8.Valid(b):
		return nil, &Mistake{0, text.Errorf(text.SimulateBadUTF8)}
	}
	r := reader{s: &Scenario{Title: map[string]string{}, Repeat: 1}, active: map[string]bool{}}
	n := 0
	for row := range strings.SplitSeq(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
		n++
		if err := r.line(n, strings.TrimSuffix(row, "\r")); err != nil {
			return nil, &Mistake{n, err}
		}
	}
	if len(r.s.Steps) == 0 {
		return nil, &Mistake{0, text.Errorf(text.SimulateBadEmpty)}
	}
	return r.s, nil
}

type reader struct {
	s      *Scenario
	active map[string]bool // active calls; true once answered
}

func (r *reader) line(n int, row string) error {
	if len(row) > maxLine {
		return text.Errorf(text.SimulateBadLong, maxLine)
	}
	words, err := split(row)
	switch {
	case err != nil:
		return err
	case len(words) == 0:
		return nil
	case words[0].is("title"):
		return r.title(row)
	case words[0].is("repeat"):
		return r.repeat(words[1:])
	}
	if len(r.s.Steps) >= MaxSteps {
		return text.Errorf(text.SimulateBadSteps, MaxSteps)
	}
	step := Step{Line: n}
	if step.At, err = r.parseTime(words[0].text); err != nil {
		return err
	}
	if len(words) < 2 {
		return text.Errorf(text.SimulateBadNoVerb, strings.Join(verbs[:], ", "))
	}
	verb := slices.IndexFunc(verbs[:], words[1].is)
	if verb < 0 {
		return text.Errorf(text.SimulateBadBadVerb, strings.Join(verbs[:], ", "))
	}
	step.Verb = Verb(verb)
	if err := r.step(&step, words[2:]); err != nil {
		return err
	}
	r.s.Steps = append(r.s.Steps, step)
	return nil
}

// title reads "title nl: text"; the text goes to the end of the line or to a
// comment.
func (r *reader) title(row string) error {
	_, rest, _ := strings.Cut(row, "title")
	if i := strings.Index(rest, " #"); i >= 0 {
		rest = rest[:i]
	}
	lang, title, ok := strings.Cut(rest, ":")
	lang, title = strings.TrimSpace(lang), strings.TrimSpace(title)
	switch {
	case !ok || lang != "nl" && lang != "en":
		return text.Errorf(text.SimulateBadTitleForm)
	case r.s.Title[lang] != "":
		return text.Errorf(text.SimulateBadTitleTwice)
	case title == "" || call.CleanText(title, 2*maxText) != title:
		return text.Errorf(text.SimulateBadTitle)
	}
	r.s.Title[lang] = title
	return nil
}

func (r *reader) repeat(words []word) error {
	if len(words) != 1 || len(r.s.Steps) > 0 {
		return text.Errorf(text.SimulateBadRepeatFirst)
	}
	n, err := strconv.Atoi(words[0].text)
	if err != nil || n < 1 || n > MaxRepeat {
		return text.Errorf(text.SimulateBadRepeatMany, MaxRepeat)
	}
	r.s.Repeat = n
	return nil
}

func (r *reader) parseTime(written string) (time.Duration, error) {
	var before time.Duration
	if n := len(r.s.Steps); n > 0 {
		before = r.s.Steps[n-1].At
	}
	digits, relative := strings.CutPrefix(written, "+")
	whole, part, point := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 5 || len(part) > 3 || point && part == "" || strings.Trim(whole+part, "0123456789") != "" {
		return 0, text.Errorf(text.SimulateBadTime)
	}
	ms, err := strconv.Atoi(whole + (part + "000")[:3])
	if err != nil {
		return 0, text.Errorf(text.SimulateBadTimeOdd)
	}
	at := time.Duration(ms) * time.Millisecond
	if relative {
		at += before
	}
	switch {
	case at < before:
		return 0, text.Errorf(text.SimulateBadBefore)
	case at > MaxTime:
		return 0, text.Errorf(text.SimulateBadDay)
	}
	return at, nil
}

func (r *reader) step(s *Step, words []word) error {
	if s.Verb == Pause {
		if len(words) > 0 {
			return text.Errorf(text.SimulateBadPause)
		}
		return nil
	}
	if len(words) == 0 || !isCallName(words[0].text) {
		return text.Errorf(text.SimulateBadNoCall)
	}
	s.Name = words[0].text
	if err := r.checkOrder(s); err != nil {
		return err
	}
	answered := r.active[s.Name]
	switch words = words[1:]; s.Verb {
	case Ring:
		r.active[s.Name] = false
		return s.parseCaller(words)
	case ChangeCaller:
		return s.parseCaller(words)
	case End:
		delete(r.active, s.Name)
		return s.parseReason(words, answered)
	case Answer:
		r.active[s.Name] = true
	}
	if len(words) > 0 {
		return text.Errorf(text.SimulateBadAlone, s.Verb)
	}
	return nil
}

// checkOrder reports whether a step may follow those before it.
func (r *reader) checkOrder(s *Step) error {
	answered, on := r.active[s.Name]
	switch {
	case s.Verb == Ring && on:
		return text.Errorf(text.SimulateBadOn)
	case s.Verb == Ring && len(r.active) >= MaxCalls:
		return text.Errorf(text.SimulateBadCalls, MaxCalls)
	case s.Verb != Ring && !on:
		return text.Errorf(text.SimulateBadNotOn)
	case (s.Verb == Answer || s.Verb == RingAgain) && answered:
		return text.Errorf(text.SimulateBadAnswered)
	}
	return nil
}

func (s *Step) parseCaller(words []word) error {
	fields := map[string]*string{"number": &s.Call.Number, "name": &s.Call.Name, "via": &s.Call.Via}
	if s.Verb == Ring {
		fields["line"] = &s.Call.Line
	}
	withheld, seen := false, map[string]bool{}
	for _, w := range words {
		key, field := cmp.Or(w.key, w.text), fields[w.key]
		switch {
		case seen[key]:
			return text.Errorf(text.SimulateBadTwice)
		case w.is("withheld"):
			withheld = true
		case w.is("outgoing") && s.Verb == Ring:
			s.Call.Direction = "outgoing"
		case field == nil:
			return text.Errorf(text.SimulateBadOnly)
		case key == "number" && !IsNumber(w.text):
			return text.Errorf(text.SimulateBadNumber)
		case w.text == "" || call.CleanText(w.text, maxText) != w.text:
			return text.Errorf(text.SimulateBadText, key)
		case key == "line" && !IsNumber(w.text):
			return text.Errorf(text.SimulateBadOwnLine)
		default:
			*field = w.text
		}
		seen[key] = true
	}
	switch {
	case withheld == (s.Call.Number != ""):
		return text.Errorf(text.SimulateBadOneOf)
	case withheld && s.Call.Name != "":
		return text.Errorf(text.SimulateBadNameless)
	case withheld && s.Call.Direction != "":
		return text.Errorf(text.SimulateBadOutgoing)
	}
	return nil
}

func (s *Step) parseReason(words []word, answered bool) error {
	s.Reason = defaultReason(answered)
	if len(words) == 0 {
		return nil
	}
	said := call.ParseReason(words[0].text)
	switch {
	case len(words) > 1 || said == call.ReasonUnknown || words[0].key != "":
		return text.Errorf(text.SimulateBadReason)
	case answered != (said == call.Completed):
		return text.Errorf(text.SimulateBadCompleted)
	}
	s.Reason = said
	return nil
}

// IsNumber reports whether a scenario may contain s as a telephone number: at least one
// digit, and nothing but digits, + * # and common separators.
func IsNumber(s string) bool {
	return len(s) <= maxNumber && strings.Trim(s, "0123456789+*# ()./-") == "" && strings.ContainsAny(s, "0123456789") && strings.TrimSpace(s) == s
}

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func isCallName(s string) bool { return s != "" && len(s) <= 16 && strings.Trim(s, nameChars) == "" }

// word is a word of a line, or key=text.
type word struct {
	key, text string
	quoted    bool
}

func (w word) is(s string) bool { return w.key == "" && !w.quoted && w.text == s }

// wordForm matches a word and the blanks after it: key=text or text, which may be quoted.
var (
	wordForm = lazyregexp.New(`^(?:([^ \t="]+)=)?(?:"((?:[^"\\]|\\.)*)"|([^ \t"]*))(?:[ \t]+|$)`)
	unquote  = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// split splits a line into words, up to a comment.
func split(s string) (all []word, err error) {
	for s = strings.TrimLeft(s, " \t"); s != "" && s[0] != '#'; {
		m := wordForm().FindStringSubmatch(s)
		if m == nil {
			return nil, text.Errorf(text.SimulateBadQuote)
		}
		all = append(all, word{key: m[1], text: unquote.Replace(m[2]) + m[3], quoted: strings.Contains(m[0], `"`)})
		s = s[len(m[0]):]
	}
	return all, nil
}

// Single returns a scenario of one call, which rings for ring or, unless answer
// is zero, is answered that long after it began and then continues for ring.
func Single(c Call, ring, answer time.Duration) *Scenario {
	c.ID = ""
	s := &Scenario{Repeat: 1, Steps: []Step{{Verb: Ring, Name: "a", Call: c}}}
	if answer > 0 {
		s.Steps = append(s.Steps, Step{At: answer, Verb: Answer, Name: "a"})
	}
	s.Steps = append(s.Steps, Step{At: answer + ring, Verb: End, Name: "a", Reason: defaultReason(answer > 0)})
	return s
}

// Builtin returns the scenarios that come with the program, sorted by name.
func Builtin() []*Scenario {
	names, err := fs.Glob(scenarios.Files, "*.txt")
	if err != nil {
		panic(err) // a wrong pattern
	}
	var all []*Scenario
	for _, name := range names {
		b, err := scenarios.Files.ReadFile(name)
		if err != nil {
			panic(err) // embedded: only a broken build gets here
		}
		s, err := Parse(b)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		s.ID = strings.TrimSuffix(name, ".txt")
		all = append(all, s)
	}
	return all
}

// Find returns the built-in scenario with the given name.
func Find(id string) (*Scenario, bool) {
	for _, s := range Builtin() {
		if s.ID == id {
			return s, true
		}
	}
	return nil, false
}
