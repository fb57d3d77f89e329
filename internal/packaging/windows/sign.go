//go:build linux

package windows

import (
	"context"
	"os"
	"path/filepath"
)

// Signer signs programs and packages with osslsigncode.
type Signer struct {
	Certificate string // PEM, with its intermediates after it
	Key         string // PEM; a file that only the builder can read
	Timestamps  string // address of a server that says when; "" for none
}

// fromEnvironment returns the Signer for the builder's variables, or nil to sign nothing.
func fromEnvironment() *Signer {
	s := Signer{os.Getenv("WIEBELT_SIGN_CERTIFICATE"), os.Getenv("WIEBELT_SIGN_KEY"), os.Getenv("WIEBELT_SIGN_TIMESTAMPS")}
	if s.Certificate == "" {
		return nil
	}
	return &s
}

// Sign signs a file in place; a nil Signer does nothing.
func (s *Signer) Sign(ctx context.Context, path, name string) error {
	if s == nil {
		return nil
	}
	signed := path + ".signed"
	args := []string{"sign", "-certs", s.Certificate, "-key", s.Key, "-h", "sha256", "-n", name}
	if s.Timestamps != "" {
		args = append(args, "-ts", s.Timestamps)
	}
	if err := runTool(ctx, filepath.Dir(path), "osslsigncode", append(args, "-in", path, "-out", signed)...); err != nil {
		return err
	}
	return os.Rename(signed, path)
}
