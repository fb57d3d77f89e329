package register

import "fmt"

// Register is the package's business on macOS: links belong to an app bundle,
// whose Info.plist names the scheme. Its error holds what a package is made
// with, to be read by whoever makes one.
func Register(o Options) error {
	agent, err := LaunchAgent(o)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w\n\nIn the bundle's Info.plist:\n\n%s\nTo start at log-on, as %s in ~/Library/LaunchAgents:\n\n%s", ErrNotHere, InfoPlist(), AgentFile, agent)
}

// Unregister is the package's business, too.
func Unregister(Options) error { return ErrNotHere }

// State cannot be asked without the bundle.
func State(Options) (Status, error) { return Status{}, ErrNotHere }
