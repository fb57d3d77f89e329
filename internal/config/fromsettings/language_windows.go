package fromsettings

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// systemLocales returns the user's preferred language and region.
func systemLocales() []string {
	locales, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err == nil && len(locales) > 1 {
		locales = locales[:1]
	}
	const longest = 85 // LOCALE_NAME_MAX_LENGTH
	var name [longest]uint16
	if n, _, _ := userLocale.Call(uintptr(unsafe.Pointer(&name[0])), longest); n > 0 {
		locales = append(locales, windows.UTF16ToString(name[:]))
	}
	return locales
}

var userLocale = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetUserDefaultLocaleName")
