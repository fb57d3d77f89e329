package secret

import "os"

// openPrivate opens a regular file. Who may read it, the user's own folder
// decides by the rights that files inherit there.
func openPrivate(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrExposed
	}
	return os.Open(path)
}
