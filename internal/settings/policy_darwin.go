package settings

import (
	"os/user"
	"path/filepath"
)

// platformPolicy is a file like that of Linux; what a device management writes
// comes as managed preferences.
func platformPolicy() string { return "/Library/Application Support/Wiebelt/" + PolicyFile }

// domain is under which name a device management sets our preferences: a
// dictionary a group, line and softphone as arrays of dictionaries.
const domain = "nl.wiebelt.companion.plist"

const managedPreferences = "/Library/Managed Preferences"

// managedPlace is what an administrator looks into.
const managedPlace = managedPreferences + "/" + domain

// managed reads what is forced on this computer's user, and over it what is
// forced on the computer. macOS writes these files as root; one that somebody
// else could have written, or that is no property list, counts for nothing.
func managed() map[string]any {
	places := []string{filepath.Join(managedPreferences, domain)}
	if u, err := user.Current(); err == nil && u.Username != "" && filepath.Base(u.Username) == u.Username {
		places = append([]string{filepath.Join(managedPreferences, u.Username, domain)}, places...)
	}
	all := map[string]any{}
	for _, path := range places {
		b, err := readMachine(path)
		if err != nil {
			continue
		}
		found, err := parsePlist(b)
		if err != nil {
			continue
		}
		overlay(all, found)
	}
	return all
}
