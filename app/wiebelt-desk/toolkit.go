package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"wiebelt/internal/ui/desk"
)

// toolkit passes on what Fyne logs, and says what it means before the first line
// about a window that cannot be made: after that line Fyne ends the process.
type toolkit struct {
	to   io.Writer
	mu   sync.Mutex
	said bool
}

func (t *toolkit) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.said && (bytes.Contains(b, []byte("window creation error")) || bytes.Contains(b, []byte("initialise GLFW"))) {
		t.said = true
		if _, err := fmt.Fprintf(t.to, "wiebelt-desk: %v\n", desk.ErrNoWindow); err != nil {
			return 0, err
		}
	}
	return t.to.Write(b)
}
