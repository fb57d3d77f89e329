package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/doctor"
	"wiebelt/internal/text"
)

type doctorCmd struct {
	Format string `enum:"text,json,nagios,prometheus" default:"text" placeholder:"FORMAT"`
	JSON   bool   `name:"json"`
	Number string `placeholder:"NUMBER"`
	Bundle string `placeholder:"FILE.zip"`
	Yes    bool
}

// HelpAppendix lists the checks below the help; the guide does so from the same table.
func (*doctorCmd) HelpAppendix(l text.Language) string {
	var b strings.Builder
	for _, id := range text.DoctorChecks {
		fmt.Fprintf(&b, "\n%s\t%s", id, l.T(text.DoctorAbout(id)))
	}
	return b.String()
}

func (c *doctorCmd) Run(e *env, d profile.Dirs) error {
	cfg, err := doctor.NewConfig(e.ctx, d, e.profileDir, e.build.Version, e.build.Commit)
	if err != nil {
		return err
	}
	cfg.Number = c.Number
	e.language = cmp.Or(e.language, fromsettings.Language(cfg.Settings))
	cfg.Language = e.language
	if c.Bundle != "" && doctor.CheckNew(c.Bundle) != nil {
		return exitError(exitFailed, text.DoctorBundleThere)
	}
	r := doctor.Run(e.ctx, cfg)
	if err := e.ctx.Err(); err != nil {
		return err // interrupted: unfinished checks mean nothing
	}
	format := doctor.Format(c.Format)
	if c.JSON {
		format = doctor.JSON
	}
	if _, err := io.WriteString(e.out, r.Render(format, cfg.Language)); err != nil {
		return err
	}
	if c.Bundle != "" {
		return c.bundle(e, cfg, r, format)
	}
	if code := r.ExitCode(format); code != exitDone {
		return &failure{code: code}
	}
	return nil
}

// bundle shows what it would write, asks for confirmation, and writes it.
func (c *doctorCmd) bundle(e *env, cfg doctor.Config, r doctor.Report, format doctor.Format) error {
	l, show := cfg.Language, e.out
	if format != doctor.Text {
		show = e.err // standard output is for the report
	}
	all, err := doctor.Collect(e.ctx, cfg, r)
	if err != nil {
		return err
	}
	fmt.Fprintln(show, l.T(text.DoctorBundleHolds, oneLine(c.Bundle)))
	for _, f := range all {
		fmt.Fprintf(show, "%10d  %s\n", len(f.Data), f.Name)
	}
	if !c.Yes {
		if !isTerminal(e.in) {
			return usageError(text.DoctorBundleYes)
		}
		fmt.Fprint(show, l.T(text.DoctorBundleAsk))
		if !e.confirm() {
			fmt.Fprintln(show, l.T(text.DoctorBundleNot))
			return &failure{code: exitFailed}
		}
	}
	if err := doctor.Write(c.Bundle, all); errors.Is(err, doctor.ErrExists) {
		return exitError(exitFailed, text.DoctorBundleThere)
	} else if err != nil {
		return err
	}
	fmt.Fprintln(show, l.T(text.DoctorBundleWritten, oneLine(c.Bundle)))
	return nil
}
