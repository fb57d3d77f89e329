package resident

import (
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
)

// tokenFile tells one writing of the listener's tokens from another.
type tokenFile struct {
	at   time.Time
	size int64
}

func (w *sources) tokenFile() tokenFile {
	info, err := os.Lstat(filepath.Join(w.r.o.Dirs.State, secret.TokensName))
	if err != nil {
		return tokenFile{}
	}
	return tokenFile{info.ModTime(), info.Size()}
}

// readTokens takes the tokens as they are now, and reports whether they are other
// ones. Where they cannot be read those that there were hold: phones have them.
func (w *sources) readTokens() (news bool) {
	t, err := secret.Token(w.r.o.Dirs)
	w.tokensAt = w.tokenFile()
	if err != nil {
		w.r.o.Log.Error("the listener's tokens", "why", err)
		return false
	}
	news = t != w.tokens
	w.tokens = t
	return news
}

// retokened follows tokens that were made anew, or mended, and reports whether
// the listener began anew with them.
func (w *sources) retokened(s *settings.Settings) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokenFile() == w.tokensAt || !w.readTokens() || !s.Listener.Enabled {
		return false
	}
	w.stop(w.listener)
	w.listener, w.refused = nil, false
	if w.listening(s) {
		w.listener = w.listen(s)
	}
	w.r.facts.keyless(!w.listening(s))
	return true
}

// keyless notes whether the listener does not run for want of tokens.
func (f *facts) keyless(is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noTokens = is
}

// hasTokens reports whether the listener has what it needs to run.
func (f *facts) hasTokens() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.noTokens
}
