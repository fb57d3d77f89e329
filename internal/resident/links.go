package resident

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"

	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/baresip"
	"wiebelt/internal/softphone/bria"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/softphone/threecx"
	"wiebelt/internal/softphone/wazo"
)

// Softphone makes the phone of a link in the settings. An exchange's secret is
// read from its store for each connection and kept nowhere else; the error says
// what is missing.
func Softphone(dirs profile.Dirs, kindOfStore string, s settings.Softphone) (link.Phone, error) {
	switch s.Kind {
	case "baresip":
		return baresip.New(baresip.Config{Address: s.Address})
	case "bria":
		return bria.New(bria.Config{Address: s.Address})
	case "linphone":
		return linphone.New(linphone.Config{Address: s.Address})
	}
	store, err := secret.Open(kindOfStore, dirs)
	if err != nil {
		return nil, fmt.Errorf("hub.secret_store: %w", err)
	}
	ref, err := secret.Softphone(s.Name, s.Address)
	if err != nil {
		return nil, err
	}
	value := func(ctx context.Context) (string, error) { return store.Get(ctx, ref) }
	switch s.Kind {
	case "ari":
		return ari.New(ari.Config{Address: s.Address, User: s.User, Secret: value, Extension: s.Extension, App: appName()})
	case "wazo":
		return wazo.New(wazo.Config{Address: s.Address, User: s.User, Secret: value, Extension: s.Extension})
	case "3cx":
		return threecx.New(threecx.Config{Address: s.Address, Client: s.User, Secret: value, Extension: s.Extension})
	}
	return nil, errors.New("this kind of softphone is not supported")
}

// appName is another one for each user and computer, and says nothing of either:
// Asterisk serves one program for each name.
func appName() string {
	host, _ := os.Hostname()
	who := host
	if u, err := user.Current(); err == nil {
		who += "\x00" + u.Uid + "\x00" + u.Username
	}
	sum := sha256.Sum256([]byte(who))
	return "wiebelt-" + hex.EncodeToString(sum[:6])
}
