package cli

import (
	"os"

	"wiebelt/internal/softphone/teamspage"
	"wiebelt/internal/text"
)

type teamsPageCmd struct {
	File string `arg:""`
}

func (c *teamsPageCmd) Run(e *env) error {
	b, err := teamspage.Write(e.lang())
	if err != nil {
		return err
	}
	if c.File == "-" {
		_, err := e.out.Write(b)
		return err
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	e.say(text.OutputTeamsPage)
	return nil
}
