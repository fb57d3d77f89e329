package doctor

import (
	"encoding/json"
	"fmt"
	"strings"

	"wiebelt/internal/text"
)

// Format is the format of a report.
type Format string

// The formats: for people, a JSON object, the output of a Nagios plugin, and metrics for
// Prometheus' textfile collector.
const (
	Text       Format = "text"
	JSON       Format = "json"
	Nagios     Format = "nagios"
	Prometheus Format = "prometheus"
)

// Exit codes of a Nagios plugin.
const (
	nagiosOK = iota
	nagiosWarning
	nagiosCritical
)

// ExitCode returns the exit code for a report in a format: 1 if something needs attention.
// Nagios has a separate code for what does not work.
func (r Report) ExitCode(f Format) int {
	switch {
	case f == Prometheus || r.OK:
		return nagiosOK // the metrics contain the result
	case f == Nagios && r.Worst() == Fail:
		return nagiosCritical
	}
	return nagiosWarning
}

// Render returns the report in a format and a language.
func (r Report) Render(f Format, l text.Language) string {
	var b strings.Builder
	switch f {
	case JSON:
		_ = json.NewEncoder(&b).Encode(r) // strings: cannot fail
	case Prometheus:
		r.metrics(&b)
	case Nagios:
		word := map[State]string{OK: "OK", Warn: "WARNING", Fail: "CRITICAL"}[r.Worst()]
		fmt.Fprintf(&b, "WIEBELT %s - %s | fail=%d warn=%d\n", word, r.Sentence(l), r.count(Fail), r.count(Warn))
		for _, c := range r.Checks {
			if c.State == Fail || c.State == Warn {
				// A bar would begin the performance data.
				b.WriteString(strings.ReplaceAll(c.line(), "|", "/") + "\n")
			}
		}
	default:
		for _, c := range r.Checks {
			b.WriteString(c.line() + "\n")
		}
		b.WriteString(r.Sentence(l) + "\n")
	}
	return b.String()
}

func (c Check) line() string {
	wide := 0
	for _, id := range text.DoctorChecks {
		wide = max(wide, len(id))
	}
	return fmt.Sprintf("%-4s  %-*s  %s", c.State, wide, c.ID, strings.TrimSpace(c.Message+" "+c.Hint))
}

// metrics writes the most severe state of every check: 0 fine, 1 warn, 2 fail.
func (r Report) metrics(b *strings.Builder) {
	b.WriteString("# HELP wiebelt_check State of a check of wiebelt doctor: 0 fine or off, 1 warning, 2 trouble.\n# TYPE wiebelt_check gauge\n")
	for _, id := range text.DoctorChecks {
		state := nagiosOK
		for _, c := range r.Checks {
			switch {
			case c.ID != id:
			case c.State == Fail:
				state = nagiosCritical
			case c.State == Warn:
				state = max(state, nagiosWarning)
			}
		}
		fmt.Fprintf(b, "wiebelt_check{id=%q} %d\n", id, state)
	}
	ok := 0
	if r.OK {
		ok = 1
	}
	fmt.Fprintf(b, "# HELP wiebelt_ok Whether wiebelt doctor found no trouble.\n# TYPE wiebelt_ok gauge\nwiebelt_ok %d\n", ok)
}

// Sentence summarises the report.
func (r Report) Sentence(l text.Language) string {
	if n := r.count(Fail) + r.count(Warn); n > 0 {
		return l.N(text.DoctorTrouble, n)
	}
	return l.T(text.DoctorAllWell)
}
