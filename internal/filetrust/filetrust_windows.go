package filetrust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// IsLocal reports whether a path is on this computer, judging by its name: not a share
// (\\server\share), a device name (\\.\, \\?\) or a drive letter mapped to a share. Opening
// one of those passes our credentials to its server.
func IsLocal(path string) bool {
	volume := filepath.VolumeName(path)
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, `//`) || len(volume) > 2 {
		return false
	}
	if volume == "" {
		return true // relative; checked again once absolute
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(root) != windows.DRIVE_REMOTE
}

func inspect(path string, who Ownership) (trustFacts, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return trustFacts{}, err
	}
	h, err := windows.CreateFile(name, windows.READ_CONTROL|windows.FILE_READ_ATTRIBUTES,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return trustFacts{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer windows.CloseHandle(h)
	return trustFactsOf(h, path, who)
}

func inspectFile(f *os.File, who Ownership) (trustFacts, error) {
	return trustFactsOf(windows.Handle(f.Fd()), f.Name(), who)
}

const (
	deleteChild = 0x40 // FILE_DELETE_CHILD, which the package lacks
	rightsGive  = windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_ALL
	rightsWrite = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
		deleteChild | windows.DELETE | windows.GENERIC_WRITE | rightsGive
	rightsMove = deleteChild | windows.DELETE | rightsGive
	rightsRead = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL
)

func trustFactsOf(h windows.Handle, path string, who Ownership) (trustFacts, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return trustFacts{}, err
	}
	t := trustFacts{folder: info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0}
	if info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		// Links and junctions lead elsewhere; other reparse points, such as those of cloud
		// storage and compression, do not.
		_, err := os.Readlink(path)
		t.link = err == nil
	}
	t.file = !t.folder && !t.link
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return trustFacts{}, err
	}
	moves := uint32(rightsMove)
	if filepath.Dir(path) == path {
		moves &^= windows.DELETE // nobody can remove a drive
	}
	return t, t.evaluateRights(sd, who, moves)
}

// evaluateRights sets who owns a file and what others may do; moves are the rights to
// move it or its content.
func (t *trustFacts) evaluateRights(sd *windows.SECURITY_DESCRIPTOR, who Ownership, moves uint32) error {
	owner, _, err := sd.Owner()
	t.owned = err == nil && owner != nil && isTrusted(owner, who)
	list, _, err := sd.DACL()
	if err != nil || list == nil { // without a list, everybody may do everything
		t.writable, t.replaceable, t.readable = true, true, true
		return nil
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return err
		}
		if ace.Header.AceType == windows.ACCESS_DENIED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		mask := uint32(ace.Mask)
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			mask = ^uint32(0) // of an unknown type
		} else if isTrusted((*windows.SID)(unsafe.Pointer(&ace.SidStart)), who) {
			continue
		}
		t.writable = t.writable || mask&rightsWrite != 0
		t.replaceable = t.replaceable || mask&moves != 0
		t.readable = t.readable || mask&rightsRead != 0
	}
	return nil
}

const (
	trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464" // owns the files of Windows itself
	ownerRights      = "S-1-3-4"                                                        // the owner, who is checked separately
)

// administrators has the last number of the SIDs of administrators of a computer or domain:
// Administrator, Domain Admins, Enterprise Admins.
var administrators = []string{"500", "512", "519"}

var currentUser = sync.OnceValues(func() (*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid, nil
})

func isTrusted(sid *windows.SID, who Ownership) bool {
	if me, err := currentUser(); err == nil && who != AdminOwned && sid.Equals(me) {
		return true
	}
	s := sid.String()
	if last := s[strings.LastIndexByte(s, '-')+1:]; strings.HasPrefix(s, "S-1-5-21-") && slices.Contains(administrators, last) {
		return true
	}
	return sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		s == trustedInstaller || s == ownerRights
}

// privateDescriptor grants access to the user, the system and the administrators,
// and inherits nothing.
func privateDescriptor() (*windows.SECURITY_DESCRIPTOR, error) {
	me, err := currentUser()
	if err != nil {
		return nil, err
	}
	return windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + me.String() + ")")
}

// fixCommand returns the command that fixes a fault: it grants access to the user, the
// system and the administrators, and inherits nothing.
func fixCommand(path string, _ Fault) string {
	return `icacls "` + path + `" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F" *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F`
}

// mkdir creates a folder with inherited rights, unless they would give others access: then
// it is closed from the moment it is created.
func mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if t, err := inspect(path, Private); err == nil && !t.writable && !t.readable || !IsLocal(path) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	sd, err := privateDescriptor()
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	rights := &windows.SecurityAttributes{SecurityDescriptor: sd}
	rights.Length = uint32(unsafe.Sizeof(*rights))
	return windows.CreateDirectory(name, rights)
}

func makePrivate(path string) error {
	sd, err := privateDescriptor()
	if err != nil {
		return err
	}
	list, _, err := sd.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

func openNoLink(path string, flag int) (*os.File, error) {
	if _, err := os.Readlink(path); err == nil {
		return nil, &Error{Path: path, Fault: FaultLink}
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(opened, there) {
			err = &Error{Path: path, Fault: FaultLink} // put there in between
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
