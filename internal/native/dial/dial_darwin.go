package dial

import "context"

func open(ctx context.Context, address string) error {
	return start(ctx, []string{"/usr/bin/open", address})
}

// owner: macOS has FaceTime for tel: at least.
func owner(context.Context, string) string { return "FaceTime" }
