package register

// Register is the package's business on macOS: links belong to an app bundle,
// whose Info.plist names the scheme.
func Register(Options) error { return ErrNotHere }

// Unregister is the package's business, too.
func Unregister(Options) error { return ErrNotHere }

// State cannot be asked without the bundle.
func State(Options) (Status, error) { return Status{}, ErrNotHere }
