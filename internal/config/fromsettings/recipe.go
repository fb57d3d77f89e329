package fromsettings

import (
	"os"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/guide"
	"wiebelt/internal/softphone/listener"
)

// RecipeValues returns the values for the recipes for phones, for a profile and the running
// program. They include the listener's tokens, so they are only shown to the user and never
// written. Errors are those of secret.EnsureTokens.
func RecipeValues(d profile.Dirs, s *settings.Settings, profileDir string) (guide.Values, error) {
	exe, err := os.Executable()
	if err != nil {
		return guide.Values{}, err
	}
	tokens, err := secret.EnsureTokens(d)
	return guide.Values{Exe: TerminalProgram(exe), Ring: RingProgram(exe), Profile: profileDir, Settings: settings.Path(d), Port: ListenerPort(d, s),
		PathToken: tokens.Path, SocketToken: tokens.Socket}, err
}

// ListenerPort returns the port that phones connect to: the one in the settings, unless
// Wiebelt had to use another.
func ListenerPort(d profile.Dirs, s *settings.Settings) int {
	if s.Source("listener.port") == settings.Default {
		if at, err := listener.ReadAnnouncement(d.Run); err == nil {
			return at.Port
		}
	}
	return s.Listener.Port
}
