package filetrust

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"wiebelt/internal/testutil/must"
)

// rights sets the access list of a file or folder, without inheritance.
func rights(t *testing.T, path, list string) {
	t.Helper()
	sd := must.Get(windows.SecurityDescriptorFromString(list))(t)
	dacl, _, err := sd.DACL()
	must.Do(t, err)
	must.Do(t, windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil))
}

func wants(t *testing.T, err error, why Fault) {
	t.Helper()
	e, _ := errors.AsType[*Error](err)
	if why == "" && err != nil || why != "" && (e == nil || e.Fault != why) {
		t.Errorf("%v, want %q", err, why)
	}
}

// Access lists as Windows creates them: a folder created below C:\ inherits
// write access for every logged-on user.
const (
	closed  = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;OW)"
	toRead  = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;OW)(A;OICI;0x1200a9;;;WD)"
	toWrite = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;OW)(A;OICI;0x1301bf;;;WD)"
)

// TestLists checks access lists directly, without a disk that stores them.
func TestLists(t *testing.T) {
	me := must.Get(currentUser())(t)
	for name, c := range map[string]struct {
		list                 string
		written, moved, read bool
	}{
		"below the user's profile":   {"D:(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;" + me.String() + ")", false, false, false},
		`the root of C:\`:            {"D:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;BU)(A;OICIIO;0x1301bf;;;AU)(A;;0x4;;;AU)", true, false, true},
		`made below C:\`:             {"D:(A;OICIID;FA;;;BA)(A;OICIID;FA;;;SY)(A;OICIID;0x1200a9;;;BU)(A;ID;0x1301bf;;;AU)(A;OICIIOID;SDGXGWGR;;;AU)", true, true, true},
		"ProgramData":                {"D:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICIIO;GA;;;CO)(A;OICI;0x1200a9;;;BU)(A;CI;DCLCRPCR;;;BU)", true, false, true},
		"Program Files":              {"D:PAI(A;;FA;;;" + trustedInstaller + ")(A;;0x1301bf;;;SY)(A;;0x1301bf;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GA;;;CO)(A;;0x1200a9;;;AC)", false, false, true},
		"shared with a colleague":    {"D:(A;;FA;;;SY)(A;;0x1301bf;;;S-1-5-21-1-2-3-1007)", true, true, true},
		"refused to all but for one": {"D:(D;;FA;;;WD)(A;;FA;;;SY)", false, false, false},
		"given away":                 {"D:(A;;WDWO;;;BU)", true, true, false},
		"no list":                    {"", true, true, true},
	} {
		sd, err := windows.SecurityDescriptorFromString("O:BA" + c.list)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := trustFacts{folder: true}
		if err := got.evaluateRights(sd, UserOwned, rightsMove); err != nil || !got.owned || got.writable != c.written || got.replaceable != c.moved || got.readable != c.read {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for owner, want := range map[string]bool{"BA": true, "SY": true, trustedInstaller: true, me.String(): true, "BU": false, "S-1-5-21-1-2-3-1007": false, "S-1-5-21-1-2-3-512": true} {
		sd := must.Get(windows.SecurityDescriptorFromString("O:" + owner + "D:"))(t)
		var got trustFacts
		if err := got.evaluateRights(sd, UserOwned, rightsMove); err != nil || got.owned != want {
			t.Errorf("owner %s: %v, %v", owner, got.owned, err)
		}
	}
}

// TestFolders checks real folders. wine keeps only as much of a list as a mode can hold.
func TestFolders(t *testing.T) {
	dir := `C:\trust-test`
	t.Cleanup(func() { os.RemoveAll(dir) })
	made := filepath.Join(dir, "made")
	wants(t, Make(made, Private), "")
	file := filepath.Join(made, "f")
	f := must.Get(OpenFile(file, os.O_CREATE|os.O_RDWR, UserOwned))(t)
	f.Close()
	rights(t, made, toRead)
	wants(t, CheckFolder(made, UserOwned), "")
	wants(t, CheckFolder(made, Private), FaultRead)
	wants(t, Make(made, Private), "") // closes it
	wants(t, CheckFolder(made, Private), "")
	rights(t, made, toWrite)
	wants(t, CheckFolder(made, UserOwned), FaultWrite)
	wants(t, Make(made, Private), FaultWrite)
	_, err := OpenFile(file, os.O_RDONLY, UserOwned)
	wants(t, err, FaultWrite)
	// The command given in the message makes the folder ours again.
	if os.Getenv("WINEPREFIX") == "" {
		if out, err := exec.Command("cmd", "/c", fixCommand(made, FaultWrite)).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	rights(t, made, closed)
	wants(t, CheckFolder(made, Private), "")
	wants(t, CheckFolder(file, UserOwned), FaultKind)
}
