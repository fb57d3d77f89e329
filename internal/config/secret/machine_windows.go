package secret

import (
	"errors"
	"io/fs"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// IsAdministrator reports whether this process may change what belongs to the whole computer.
func IsAdministrator() bool {
	sid, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return false
	}
	member, err := windows.Token(0).IsMember(sid)
	return err == nil && member
}

// readableByAll is false: users may read, but the contents are encrypted.
func readableByAll(fs.FileInfo) bool { return false }

func makeMachineDir(dir, _ string) error {
	sd, err := windows.SecurityDescriptorFromString(FolderRights)
	if err != nil {
		return err
	}
	rights := &windows.SecurityAttributes{SecurityDescriptor: sd}
	rights.Length = uint32(unsafe.Sizeof(*rights))
	for _, d := range []string{filepath.Dir(dir), dir} {
		name, err := windows.UTF16PtrFromString(d)
		if err != nil {
			return err
		}
		// An existing one is checked by reading the secret back.
		if err := windows.CreateDirectory(name, rights); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// DPAPI flags: any user of this computer can decrypt, without a prompt.
const machineScope, noPrompt = 0x4, 0x1

func protect(b []byte) ([]byte, error) {
	return dpapi(b, func(in, out *windows.DataBlob) error {
		return windows.CryptProtectData(in, nil, nil, 0, nil, machineScope|noPrompt, out)
	})
}

func unprotect(b []byte) ([]byte, error) {
	return dpapi(b, func(in, out *windows.DataBlob) error {
		return windows.CryptUnprotectData(in, nil, nil, 0, nil, noPrompt, out)
	})
}

func dpapi(b []byte, call func(in, out *windows.DataBlob) error) ([]byte, error) {
	if len(b) == 0 {
		return nil, ErrDamaged
	}
	in := windows.DataBlob{Size: uint32(len(b)), Data: &b[0]}
	var out windows.DataBlob
	if err := call(&in, &out); err != nil {
		return nil, err
	}
	defer func() { _, _ = windows.LocalFree(windows.Handle(unsafe.Pointer(out.Data))) }()
	return append([]byte(nil), unsafe.Slice(out.Data, out.Size)...), nil
}

// MachineReaders returns no group: users may read.
func MachineReaders() string { return "" }
