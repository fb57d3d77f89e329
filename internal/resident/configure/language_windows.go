package configure

import "golang.org/x/sys/windows"

// systemLocale is the first language the user prefers.
func systemLocale() string {
	all, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0]
}
