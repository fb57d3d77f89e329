// Package winetest runs Windows programs in tests on Linux,
// under wine, on a screen of their own (xtest).
//
// Making a wine prefix takes a quarter of a minute, so a pristine one is kept in the user's
// cache folder, made once and locked while it is made. Every test gets its own copy: the large
// files are hard links and the registry is a real copy, so that no test sees what another one
// did. When the test ends, the copy is removed and its wine server ended.
//
// # What no test here shows
//
// wine 8 has one monitor, one user, no lock screen and no compositor. The
// following is written from Windows' documentation (learn.microsoft.com, Win32)
// and remains to be checked on a real computer:
//
//   - That cards stay out of screen sharing: SetWindowDisplayAffinity with
//     WDA_EXCLUDEFROMCAPTURE fails with error 8 here. Windows has it since 10
//     2004; in earlier versions, the card is black in the picture
//     ("SetWindowDisplayAffinity"). In a remote session it is off
//     (GetSystemMetrics, SM_REMOTESESSION).
//   - A second monitor with another scale: WM_DPICHANGED and GetDpiForMonitor for
//     programs that are PerMonitorV2 ("High DPI Desktop Application Development on
//     Windows"). wine never stretches a window of a program that is not. The tests
//     cover one monitor at 200 %, and text at 150 %.
//   - That Windows broadcasts WM_SETTINGCHANGE when the text size, the appearance
//     or high contrast changes, or WM_SYSCOLORCHANGE; the tests cover how we
//     respond. wine answers SPI_GETHIGHCONTRAST with "off", whatever is set.
//   - That the screen is locked: WTSRegisterSessionNotification succeeds here but
//     nothing ever locks; the tests cover how we respond to WM_WTSSESSION_CHANGE.
//     For SHQueryUserNotificationState wine has only one answer,
//     QUNS_ACCEPTS_NOTIFICATIONS.
//   - The right to come to the front: Windows allows SetForegroundWindow to a
//     program that "received the last input event", such as the press of its
//     hotkey; wine allows it to every program.
//   - Keys after GiveKeyboardBack while the card stays: Windows' own focus is
//     Notepad's again, but wine leaves the X focus on a window without a manager
//     until it is hidden. The tests type and count keys after Hide.
//   - What a screen reader makes of our cards. A client of UI Automation walks them
//     with functions of the system, since wine has no CUIAutomation. It finds the
//     tree and most properties, but no rectangles, values, patterns or events, for
//     which the tests call the providers as Windows would. UiaClientsAreListening
//     is never true, UiaDisconnectProvider and UiaRaiseAutomationEvent do nothing,
//     and UiaRaiseStructureChangedEvent and UiaHasServerSideProvider end the
//     program.
//   - That FILE_FLAG_FIRST_PIPE_INSTANCE keeps others from our pipe's name; wine
//     ignores it.
//   - The scheme registered below HKEY_CURRENT_USER: wine's ShellExecute reads
//     only HKEY_LOCAL_MACHINE.
//   - A hotkey while a program outside of wine has the keyboard: RegisterHotKey
//     sees only keys that a wine window gets.
package winetest
