package resident

import (
	"cmp"
	"os"

	"wiebelt/internal/configure"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/secret"
	"wiebelt/internal/text"
)

// recipes gives what is filled into the recipes on this computer. It holds
// tokens, so it goes to our own windows only, and only when they ask.
func (r *Resident) recipes() deskapi.Recipes {
	m := deskapi.Recipes{Profile: r.o.ProfileDir, Settings: configure.SettingsFile(r.o.Dirs),
		Support: cmp.Or(r.set().Support.Contact, r.lang().T(text.CardAdmin)),
		Enabled: r.set().Listener.Enabled, HTTP: r.set().Listener.HTTP}
	m.Port, m.Taken = r.facts.listening(r.set().Listener.Port)
	exe, err := os.Executable()
	if err != nil {
		r.o.Log.Error("our own program's name", "why", err)
		return m
	}
	tokens, err := secret.Token(r.o.Dirs)
	if err != nil {
		r.o.Log.Error("the listener's tokens", "why", err)
		return m
	}
	m.OK, m.Exe, m.ExeW = true, exe, configure.WithoutConsole(exe)
	m.PathToken, m.SocketToken = tokens.Path, tokens.Socket
	return m
}

// listening gives the listener's port, that of the settings until it runs, and
// whether another program has it.
func (f *facts) listening(set int) (port int, taken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.port < 0:
		return -f.port, true
	case f.port == 0:
		return set, false
	}
	return f.port, false
}
