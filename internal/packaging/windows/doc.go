//go:build linux

// Package windows makes the packages of Windows: an MSI with the programs of a
// workplace, one with the relay as a service, what Intune wants to know of them, and
// manifests for winget. It has no state and no goroutines.
//
// wixl makes the package, its files and most of its tables of a .wxs; the rows that it
// has no words for are added with msibuild, and what would differ from build to build is
// written over (settle).
//
// # How versions change while people telephone
//
// Every version has a folder of its own, so nothing that runs is replaced. The new one
// is installed, and only then the old one removed, without its files: they are left to
// "wiebelt sweep", which the newer version's installation runs once it can no longer
// fail, and which takes folders that nobody runs. Phones start a small
// program, and terminals another one, and these have one place in all versions: each comes
// with the version, and "wiebelt sweep --place" renames a copy of it over the older one.
//
// # Killed in the middle
//
// By hand an upgrade was killed under wine at every fortieth of the processor time that it
// takes, and at 24 moments around the placing of the small programs. Until "complete" is written,
// last of a version's files, the older version runs, from then on the newer one, whichever
// small programs are there: each was the old or the new one, whole. Installing again made all
// of it new.
//
// # What no test here shows
//
// The tests install with wine 8. What follows rests on Windows' documentation
// (learn.microsoft.com, Windows Installer unless it says otherwise) and waits for a look
// on a real computer:
//
//   - The Restart Manager ends nobody and asks for no restart: it is not used at all
//     where MSIRESTARTMANAGERCONTROL is Disable, and a silent installation shows no list
//     of files in use ("MSIRESTARTMANAGERCONTROL property").
//   - Windows tells a version that it goes for a newer one ("UPGRADINGPRODUCTCODE
//     property"). wine does not; shown is the other sign, the number in the registry.
//   - A failure undoes everything, the removal of the old version included, because that
//     stands between InstallExecute and InstallFinalize ("RemoveExistingProducts
//     action"); actions of the commit kind run only when nothing failed ("Commit Custom
//     Actions"). wine undoes little.
//   - The rights of ProgramData\Wiebelt ("MsiLockPermissionsEx table"), which wine does
//     not read, and with them that a copied policy counts.
//   - Actions without impersonation run as the system ("Custom Action In-Script
//     Execution Options"), and so end the programs of every session. wine has one user.
//   - A small program that runs is replaced when Windows starts next ("MoveFileEx
//     function" for files).
//   - That a version is known as soon as it is there ("Upgrade table"): wine forgets it with
//     the older one, until it is repaired. A downgrade is tried after that.
//   - Repair with /f ("msiexec"), which wine has for no package; shown is what it stands
//     for ("REINSTALL property", "REINSTALLMODE property").
//   - The service: that it starts, starts again after ten seconds, and after an upgrade
//     ("ServiceControl table"; "SERVICE_FAILURE_ACTIONS structure" for services).
//     golang.org/x/sys does not take wine's for one.
//   - The search path without a trace ("Environment table"): wine leaves its last semicolon.
//   - A terminal: the whole program takes part in the console of the small one
//     ("AttachConsole function" for consoles). Shown is that streams and exit codes pass.
//   - Elevation, SmartScreen, the checks of internal consistency (ICE), assignment by
//     group policy and Intune, and winget itself.
package windows
