package doctor

import (
	"os"
	"path/filepath"

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

// writable: who may do what is in lists that trust reads, and whether we may is
// found out by doing it.
func writable(string) bool { return true }
