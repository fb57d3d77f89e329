// Package winetest runs Windows programs in tests on Linux, under wine, on a
// screen of their own (xtest).
//
// Making a wine prefix takes a quarter of a minute, so a pristine one is kept
// below the user's cache folder, made once and locked while it is made. Every
// test gets a copy of its own: the large files are hard links, the registry is a
// real copy, so no test sees what another one did. The copy is removed, and its
// wine server ended, when the test ends.
//
// # What no test here shows
//
// wine 8 has one monitor, one user, no lock screen and no compositor. What
// follows is written from Windows' documentation (learn.microsoft.com, Win32) and
// waits for a look on a real computer:
//
//   - That cards stay out of screen sharing: SetWindowDisplayAffinity with
//     WDA_EXCLUDEFROMCAPTURE fails with error 8 here. Windows has it since 10
//     2004; before, the card is black in the picture ("SetWindowDisplayAffinity").
//     In a remote session it is off (GetSystemMetrics, SM_REMOTESESSION).
//   - A second monitor with another scale: WM_DPICHANGED and GetDpiForMonitor for
//     programs that are PerMonitorV2 ("High DPI Desktop Application Development on
//     Windows"). wine never stretches a window of a program that is not. Shown
//     here: one monitor at 200 %, text at 150 %.
//   - That Windows broadcasts WM_SETTINGCHANGE when the size of text, the
//     appearance or high contrast changes, or WM_SYSCOLORCHANGE; shown is what we do
//     when it comes. wine answers SPI_GETHIGHCONTRAST with "off", whatever is set.
//   - That the screen is locked: WTSRegisterSessionNotification succeeds here and
//     nothing ever locks; shown is what we do with WM_WTSSESSION_CHANGE. Of
//     SHQueryUserNotificationState wine knows one answer, QUNS_ACCEPTS_NOTIFICATIONS.
//   - The right to come to the front: SetForegroundWindow is allowed to a program
//     that "received the last input event", which pressing its hotkey is; wine
//     allows it to everybody.
//   - Keys after GiveKeyboardBack while the card stays: Windows' own focus is
//     Notepad's again, but wine leaves the focus of X on a window without a
//     manager until it is hidden. After Hide keys are typed and counted.
//   - What a screen reader makes of our cards. A client of UI Automation walks them, by
//     functions of the system: wine has no CUIAutomation. It finds the tree and most
//     properties; no rectangles, values, patterns or events, for which the providers
//     are called as Windows would. UiaClientsAreListening is never true,
//     UiaDisconnectProvider and UiaRaiseAutomationEvent do nothing, and
//     UiaRaiseStructureChangedEvent and UiaHasServerSideProvider end the program.
//   - That FILE_FLAG_FIRST_PIPE_INSTANCE keeps others from our pipe's name, which
//     wine ignores.
//   - The registered scheme below HKEY_CURRENT_USER: wine's ShellExecute reads
//     HKEY_LOCAL_MACHINE only.
//   - A hotkey while a program outside of wine has the keyboard: RegisterHotKey
//     sees keys only that a wine window gets.
package winetest
