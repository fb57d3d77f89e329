package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ReadMachine reads a file of the machine's administrator, at most limit bytes.
// It counts only if the file and its own folder belong to SYSTEM, Administrators
// or TrustedInstaller, are no links or junctions, and nobody else may write,
// delete or change rights on them (ErrNotTheirs). A missing file is
// fs.ErrNotExist. What was checked is what is read: both stay open meanwhile.
func ReadMachine(path string, limit int64) ([]byte, error) {
	dir, err := openNoLink(filepath.Dir(path), windows.READ_CONTROL|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(dir)
	if err := theirs(dir, true); err != nil {
		return nil, fmt.Errorf("its folder: %w", err)
	}
	h, err := openNoLink(path, windows.GENERIC_READ|windows.READ_CONTROL)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(h), "policy")
	defer f.Close()
	if err := theirs(h, false); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openNoLink opens a file or folder as it lies there, and lets nobody delete it
// meanwhile.
func openNoLink(path string, access uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND) {
		return 0, fs.ErrNotExist
	}
	return h, err
}

// writing are the rights that only an administrator may have: to write, delete
// or give away.
const writing = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
	fileDeleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

const fileDeleteChild = 0x40

// trustedInstaller is the account that owns what Windows itself installs.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func theirs(h windows.Handle, folder bool) error {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return err
	}
	if info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		return fmt.Errorf("it is a link: %w", ErrNotTheirs)
	}
	if (info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0) != folder {
		return fmt.Errorf("it is not what it should be: %w", ErrNotTheirs)
	}
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil || owner == nil || !administrator(owner) {
		return fmt.Errorf("it belongs to another user: %w", ErrNotTheirs)
	}
	list, _, err := sd.DACL()
	if err != nil || list == nil { // no list means that everybody may do everything
		return fmt.Errorf("everybody may write it: %w", ErrNotTheirs)
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return fmt.Errorf("its rights cannot be read: %w", ErrNotTheirs)
		}
		switch ace.Header.AceType {
		case windows.ACCESS_DENIED_ACE_TYPE:
			continue
		case windows.ACCESS_ALLOWED_ACE_TYPE:
		default:
			return fmt.Errorf("its rights are of an unknown kind: %w", ErrNotTheirs)
		}
		if ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || ace.Mask&writing == 0 {
			continue
		}
		if !administrator((*windows.SID)(unsafe.Pointer(&ace.SidStart))) {
			return fmt.Errorf("others may write it: %w", ErrNotTheirs)
		}
	}
	return nil
}

func administrator(sid *windows.SID) bool {
	return sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		sid.String() == trustedInstaller
}
