package processtest

import "os/exec"

func endWithUs(*exec.Cmd) {} // only for tests that run on Linux
