//go:build linux

package windows

import (
	"context"
	"os"
	"path/filepath"
)

// Signer signs programs and packages with osslsigncode.
type Signer struct {
	Certificate string // PEM, with those that vouch for it behind it
	Key         string // PEM; a file of the builder's alone
	Timestamps  string // address of a server that says when; "" for none
}

// fromEnvironment is what the builder's variables say to sign with, nil for nothing.
func fromEnvironment() *Signer {
	s := Signer{os.Getenv("WIEBELT_SIGN_CERTIFICATE"), os.Getenv("WIEBELT_SIGN_KEY"), os.Getenv("WIEBELT_SIGN_TIMESTAMPS")}
	if s.Certificate == "" {
		return nil
	}
	return &s
}

// Sign signs a file in place; a nil Signer leaves it as it is.
func (s *Signer) Sign(ctx context.Context, path, name string) error {
	if s == nil {
		return nil
	}
	signed := path + ".signed"
	args := []string{"sign", "-certs", s.Certificate, "-key", s.Key, "-h", "sha256", "-n", name}
	if s.Timestamps != "" {
		args = append(args, "-ts", s.Timestamps)
	}
	if err := tool(ctx, filepath.Dir(path), "osslsigncode", append(args, "-in", path, "-out", signed)...); err != nil {
		return err
	}
	return os.Rename(signed, path)
}
