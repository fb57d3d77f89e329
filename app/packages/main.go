//go:build linux

// Command packages builds packages of the programs in bin, in bin/packages: "packages
// linux" builds those for Debian and Red Hat, "packages windows" those for Windows, and
// "packages seal" the list of all files with its signature. "make packages" runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"wiebelt/internal/packaging/linux"
	"wiebelt/internal/packaging/release"
	"wiebelt/internal/packaging/windows"
)

var key release.Key

// steps are run in the order of the arguments.
var steps = map[string]func(context.Context, release.Release) error{
	"linux":   linux.Build,
	"windows": windows.Build,
	"seal":    func(_ context.Context, r release.Release) error { return r.Seal(key) },
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run() error {
	version := flag.String("version", "", "three `numbers`")
	commit := flag.String("commit", "", "that the programs were built from")
	flag.StringVar(&key.File, "key", "", "`file` with minisign's secret key, to sign with")
	flag.StringVar(&key.Password, "password", "", "`file` with the password of that key")
	flag.Parse()
	r, err := release.New(*version, *commit, os.Getenv("SOURCE_DATE_EPOCH"), "bin", "bin/packages")
	if err != nil {
		return err
	}
	for _, name := range flag.Args() {
		step, known := steps[name]
		if !known {
			return fmt.Errorf("there is no step %q", name)
		}
		if err := step(context.Background(), r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
