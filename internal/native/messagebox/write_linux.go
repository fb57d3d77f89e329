package messagebox

import (
	"fmt"
	"os"
)

// write says it on standard error.
func write(title, text string) error {
	if _, err := fmt.Fprintf(os.Stderr, "%s: %s\n", title, text); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return nil
}
