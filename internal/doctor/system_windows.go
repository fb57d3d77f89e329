package doctor

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// policySources looks for both, as the settings do.
func policySources() (file, managed bool) {
	if dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT); err == nil {
		file = exists(filepath.Join(dir, "Wiebelt", "policy.toml"))
	}
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `Software\Policies\Wiebelt`, registry.READ|registry.WOW64_64KEY)
	if err == nil {
		managed = true
		_ = k.Close()
	}
	return file, managed
}

func hasDesktop() bool { return true }

func hasOpenGL() bool { return windows.NewLazySystemDLL("opengl32.dll").Load() == nil }

func microSIP() string {
	if dir := os.Getenv("APPDATA"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "MicroSIP", "microsip.ini")
	}
	return ""
}

func freeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// Rights that matter.
const (
	fileDeleteChild = 0x40
	writing         = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | fileDeleteChild | windows.DELETE |
		windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL
	reading = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL

	trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
)

func folderRights(path string) (rights, error) {
	r, err := rightsOf(path)
	if info, statErr := os.Stat(path); err == nil && (statErr != nil || !info.IsDir()) {
		r.notOurs = true
	}
	return r, err
}

func programRights(path string) (rights, error) { return rightsOf(path) }

// rightsOf reads who but the user and the computer's administrators may do what.
func rightsOf(path string) (rights, error) {
	var r rights
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return r, err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return r, err
	}
	fine := func(sid *windows.SID) bool {
		return sid.Equals(user.User.Sid) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
			sid.String() == trustedInstaller
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return r, err
	}
	r.notOurs = owner == nil || !fine(owner)
	list, _, err := sd.DACL()
	if err != nil {
		return r, err
	}
	if list == nil { // everybody may do everything
		r.others, r.readable = true, true
		return r, nil
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return r, err
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || fine(sid) {
			continue
		}
		r.others = r.others || ace.Mask&writing != 0
		r.readable = r.readable || ace.Mask&reading != 0
	}
	return r, nil
}
