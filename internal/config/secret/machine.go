package secret

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// MachineGroup is the default group with read access to the computer's secrets on Unix.
const MachineGroup = "wiebelt"

// FolderRights are the rights of Wiebelt's folder in Windows' ProgramData: owned by
// Administrators; they and the system have full access, users may read. Nothing is
// inherited from ProgramData, where users may write.
const FolderRights = "O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)"

// machineStore keeps the secrets of a whole computer, each in a file that only
// administrators can write:
//
//   - Unix: /etc/wiebelt/secrets, root and a group, mode 0640.
//   - Windows: %ProgramData%\Wiebelt\secrets, encrypted by the system for this
//     computer (DPAPI, machine scope); administrators write, users read. That
//     protects the secrets on a copied disk or backup, but not from users of the computer.
//
// A file counts only if nobody else could have written it and, on Unix, not
// everybody can read it.
//
// The keys that the program creates for each user, and a user's relay membership, are
// in the user's own store.
type machineStore struct {
	Store // the user's own
	group string
}

// The folder and who may write it; replaced in tests.
var (
	machineDir  = func() string { return profile.Machine("secrets") }
	readMachine = readAdminFile
	isAdmin     = IsAdministrator
)

// readAdminFile reads a file that belongs to the computer's administrators.
func readAdminFile(path string) ([]byte, error) {
	f, err := filetrust.OpenFile(path, os.O_RDONLY, filetrust.AdminOwned)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || readableByAll(info) {
		return nil, cmp.Or(err, ErrExposed)
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

func (s *machineStore) path(ref Ref) string {
	return filepath.Join(machineDir(), ref.digest()+".secret")
}

func (s *machineStore) Get(ctx context.Context, ref Ref) (string, error) {
	if ref.perUser {
		return s.Store.Get(ctx, ref)
	}
	dir := machineDir()
	if dir == "" {
		return "", ErrNoStore
	}
	sealed, err := readMachine(s.path(ref))
	if err != nil {
		return "", machineError(err)
	}
	b, err := unprotect(sealed)
	if err != nil {
		return "", ErrDamaged
	}
	return unpack(b, ref)
}

// machineError maps an error of reading to one of this package.
func machineError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotSet
	case errors.Is(err, fs.ErrPermission):
		return ErrNoRight
	}
	return fileError(err)
}

func (s *machineStore) Set(ctx context.Context, ref Ref, secret string) error {
	if ref.perUser {
		return s.Store.Set(ctx, ref, secret)
	}
	if err := ShareMachine(s.group); err != nil {
		return err
	}
	sealed, err := protect(pack(ref, secret))
	if err != nil {
		return err
	}
	path := s.path(ref)
	if err := profile.WriteFile(path, sealed, 0o640); err != nil {
		return err
	}
	// Reading it back detects a planted folder.
	if _, err := s.Get(ctx, ref); err != nil {
		return errors.Join(err, profile.RemoveFile(path))
	}
	return nil
}

// ShareMachine lets a group, as of OpenMachine, read the computer's secrets: those that are
// there and those that follow.
func ShareMachine(group string) error {
	if !isAdmin() {
		return ErrNotAdmin
	}
	dir := machineDir()
	if dir == "" {
		return ErrNoStore
	}
	return makeMachineDir(dir, group)
}

func (s *machineStore) Delete(ctx context.Context, ref Ref) error {
	if ref.perUser {
		return s.Store.Delete(ctx, ref)
	}
	if _, err := s.Get(ctx, ref); errors.Is(err, ErrNotSet) {
		return nil
	}
	if !isAdmin() {
		return ErrNotAdmin
	}
	return profile.RemoveFile(s.path(ref))
}
