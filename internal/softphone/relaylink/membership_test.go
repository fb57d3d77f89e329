package relaylink

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

// TestJoinRefused: each way in which joining can fail has its own sentence.
func TestJoinRefused(t *testing.T) {
	ours := must.Get(certificates.New("kantoor", time.Now()))(t)
	theirs := must.Get(certificates.New("elders", time.Now()))(t)
	serve := func(a *certificates.Authority, host string, at time.Time, status int, body string) string {
		t.Helper()
		c := must.Get(a.Issue([]string{host}, at))(t)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS13}
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	now, print, here := time.Now(), ours.Fingerprint(), "127.0.0.1"
	nobody := "https://" + nettest.Nobody(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for name, tt := range map[string]struct {
		address, print string
		want           text.Key
	}{
		"not https":         {"http://127.0.0.1:1", print, text.RelayJoinAddress},
		"no address":        {"relay", print, text.RelayJoinAddress},
		"a password in it":  {"https://a:b@127.0.0.1", print, text.RelayJoinAddress},
		"nobody":            {nobody, print, text.RelayJoinNobody},
		"wrong code":        {serve(ours, here, now, 403, ""), print, text.RelayJoinCode},
		"too many":          {serve(ours, here, now, 429, ""), print, text.RelayJoinWait},
		"out of order":      {serve(ours, here, now, 503, ""), print, text.RelayJoinFault},
		"another program":   {serve(ours, here, now, 200, "<html>"), print, text.RelayJoinOther},
		"elsewhere":         {serve(ours, here, now, 302, ""), print, text.RelayJoinOther},
		"no relay":          {serve(ours, here, now, 404, ""), print, text.RelayJoinOther},
		"another authority": {serve(theirs, here, now, 200, ""), print, text.RelayJoinFingerprint},
		"another name":      {serve(ours, "relay.kantoor.example", now, 200, ""), print, text.RelayJoinName},
		"expired":           {serve(ours, here, now.AddDate(-3, 0, 0), 200, ""), print, text.RelayJoinExpired},
		"without TLS":       {"https://" + plain.Listener.Addr().String(), print, text.RelayJoinOther},
		"no fingerprint":    {serve(ours, here, now, 200, ""), "", text.RelayJoinUnknown},
	} {
		stored, err := Join(t.Context(), tt.address, "7F3K-9QXM-2LHD-VT8W", tt.print)
		if said, ok := err.(*text.Error); !ok || said.Key != tt.want || stored != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
