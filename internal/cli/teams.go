package cli

import (
	"wiebelt/internal/config/profile"
	"wiebelt/internal/softphone/teamspage"
	"wiebelt/internal/text"
)

type teamsPageCmd struct {
	File string `arg:""`
}

func (c *teamsPageCmd) Run(e *env) error {
	b, err := teamspage.Render(e.lang())
	if err != nil {
		return err
	}
	if c.File == "-" {
		_, err := e.out.Write(b)
		return err
	}
	if err := profile.CreateFile(c.File, b, 0o644); err != nil {
		return err
	}
	e.printText(text.OutputTeamsPage)
	return nil
}
