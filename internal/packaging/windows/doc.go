//go:build linux

// Package windows builds the Windows packages: an MSI with the programs of a workplace, one
// with the relay as a service, their details for Intune, and manifests for winget. It has
// no state and no goroutines.
//
// wixl builds the package, its files and most of its tables from a .wxs; msibuild
// adds the rows that wixl cannot express, and stampSummary overwrites what would differ
// from build to build.
//
// # How versions change while people are on the phone
//
// Every version has its own folder, so running programs are never replaced. The new version
// is installed, and only then is the old one removed, except its files: "wiebelt sweep"
// deletes them. The newer version's installation runs it once it can no longer fail, and
// it deletes folders whose programs are not running. Phones start a small program, and
// terminals another one, which have one place for all versions: each version includes them,
// and "wiebelt sweep --place" renames a copy over the older one.
//
// # Killed halfway
//
// By hand, an upgrade was killed under wine at every fortieth of the processor time it
// takes, and at 24 moments around the placing of the small programs. Until "complete" is
// written, the last of a version's files, the older version runs; from then on the newer
// one, whichever small programs are there: each was either the old or the new one, intact.
// Installing again completed the upgrade.
//
// # What no test here shows
//
// The tests install with wine 8. The following relies on the Windows documentation
// (learn.microsoft.com, Windows Installer unless stated otherwise) and remains to be
// checked on a real computer:
//
//   - The Restart Manager ends no programs and requests no restart: it is not used at all
//     if MSIRESTARTMANAGERCONTROL is Disable, and a silent installation shows no list of
//     files in use ("MSIRESTARTMANAGERCONTROL property").
//   - Windows tells a version that it is removed for a newer one ("UPGRADINGPRODUCTCODE
//     property"). wine does not; the tests cover the other sign, the
//     number in the registry.
//   - A failure rolls everything back, including the removal of the old version, because
//     that is between InstallExecute and InstallFinalize ("RemoveExistingProducts
//     action"); commit actions only run if nothing failed ("Commit Custom Actions").
//     wine rolls back little.
//   - The permissions of ProgramData\Wiebelt ("MsiLockPermissionsEx table"), which wine
//     does not read, and hence that a copied policy is accepted.
//   - Actions without impersonation run as the system ("Custom Action In-Script Execution
//     Options"), and so end the programs of every session. wine has one user.
//   - A small program that is running is replaced at the next start of Windows ("MoveFileEx
//     function" for files).
//   - That a version is known as soon as it is installed ("Upgrade table"): wine
//     forgets it together with the older one, until it is repaired. A downgrade is
//     only tested after that.
//   - Repair with /f ("msiexec"), which wine does not support; the tests cover its
//     equivalent ("REINSTALL property", "REINSTALLMODE property").
//   - The service: that it starts, restarts after ten seconds, and after an upgrade
//     ("ServiceControl table"; "SERVICE_FAILURE_ACTIONS structure" for services).
//     golang.org/x/sys does not recognise wine's service manager.
//   - That the search path is restored exactly ("Environment table"): wine leaves
//     the last semicolon.
//   - A terminal: the whole program attaches to the console of the small one
//     ("AttachConsole function" for consoles). The tests cover streams and exit codes.
//   - Elevation, SmartScreen, the internal consistency evaluators (ICE), assignment by
//     group policy and Intune, and winget itself.
package windows
