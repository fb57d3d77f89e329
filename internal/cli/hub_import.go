package cli

import "errors"

type hubImportCmd struct{}

func (c *hubImportCmd) Run(*env) error { return errors.New("not here yet") }
