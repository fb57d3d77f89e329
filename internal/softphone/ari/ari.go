package ari

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/wslink"
)

// Kind is the way in's kind.
const Kind = "ari"

// Config is where the exchange is found and what is listened to.
type Config struct {
	// Address is that of Asterisk's HTTP server, such as https://pbx.example:8089,
	// with its prefix if it has one. "/ari" at the end may be left out.
	Address string
	// User is the user of ARI.
	User string
	// Secret gives the password, anew for each connection. It is kept no longer
	// than that one.
	Secret func(context.Context) (string, error)
	// Extension is the endpoint whose calls are reported, such as 101.
	Extension string
	// App is the application's name, another one for each user and computer. It
	// holds letters, digits, hyphens, dots and underscores.
	App string
	Net wslink.Options
}

type phone struct {
	cfg    Config
	server *wslink.Server
	traits link.Traits

	legs   wslink.Legs
	asked  map[string]asked  // by our channel's id: whether its number is withheld
	hidden map[string]string // by another channel's id: a number that is withheld
}

type asked struct {
	number   string
	withheld bool
}

// maxHeard bounds what is remembered of channels.
const maxHeard = 512

// New makes the phone for link.Run. The error is for the administrator.
func New(cfg Config) (link.Phone, error) {
	switch {
	case cfg.Extension == "":
		return nil, errors.New("ari: an extension is needed: without one the calls of the whole exchange would be reported")
	case !wslink.Extension(cfg.Extension):
		return nil, errors.New("ari: the extension is not one")
	case cfg.User == "" || strings.ContainsFunc(cfg.User, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }):
		return nil, errors.New("ari: a user name is needed, without a colon")
	case cfg.App == "" || !wslink.Extension(cfg.App) || strings.ContainsAny(cfg.App, "+*"):
		return nil, errors.New("ari: an application name of letters, digits, hyphens, dots and underscores is needed")
	case cfg.Secret == nil:
		return nil, errors.New("ari: a secret is needed")
	}
	server, err := wslink.New(strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(cfg.Address), "/"), "/ari"), cfg.Net)
	if err != nil {
		return nil, fmt.Errorf("ari: %w", err)
	}
	return &phone{
		cfg: cfg, server: server,
		traits: link.Traits{Way: call.Way{Kind: Kind, Conn: server.Host() + "/" + cfg.Extension, Tells: call.TellsAll}},
		asked:  map[string]asked{}, hidden: map[string]string{},
	}, nil
}

func (p *phone) Traits() link.Traits { return p.traits }

// Session takes events until the connection ends. They are waited for before the
// channels that are there are asked for, so that nothing falls in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	secret, err := p.cfg.Secret(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("ari: the secret cannot be read: %w", err)
	case secret == "":
		return &link.Refusal{Why: "no password of ARI is stored", Cause: link.CauseNoSecret}
	}
	h := wslink.Basic(p.cfg.User, secret)
	defer p.server.Idle()
	sock, status, err := p.server.Dial(ctx, "/ari/events"+wslink.Query("app", p.cfg.App, "subscribeAll", "true"), h, "ari")
	switch {
	case err != nil:
		return err
	case sock == nil:
		return p.refused(status)
	}
	defer sock.Close()
	s := &session{phone: p, r: r, header: h}
	if err := s.snapshot(ctx); err != nil {
		return err
	}
	r.Up()
	for b := range sock.In() {
		if err := s.message(ctx, b); err != nil {
			return err
		}
	}
	return sock.Err()
}

func (p *phone) refused(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return &link.Refusal{Why: "Asterisk does not accept the user name and password of ARI (401)", Cause: link.CauseDenied}
	case http.StatusForbidden:
		return &link.Refusal{Why: "Asterisk does not let this user of ARI in from this computer (403)", Cause: link.CauseRights}
	}
	return p.server.Status(status)
}

// session is one connection.
type session struct {
	*phone
	r      *link.Reporter
	header http.Header
}

// snapshot reports the calls that are there, and as over those that are not.
func (s *session) snapshot(ctx context.Context) error {
	var all []json.RawMessage
	status, err := s.server.Get(ctx, "/ari/channels", s.header, &all)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return s.refused(status)
	}
	clear(s.hidden)
	there := map[string]bool{}
	for _, b := range all {
		var c channel
		if json.Unmarshal(b, &c) != nil {
			s.r.Odd(len(b))
			continue
		}
		if s.mine(c.Name) {
			there[c.ID] = true
		}
		s.take(ctx, c, false)
	}
	s.legs.Only(s.r, there)
	return nil
}

// askTime is how long a ring waits for an answer about its caller.
const askTime = time.Second

// variable asks for a function of the dialplan on a channel. A function that
// cannot be read is ""; no answer at all, or a channel that is gone, is not ok.
func (s *session) variable(ctx context.Context, id, name string) (value string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var answer struct {
		Value string `json:"value"`
	}
	status, err := s.server.Get(ctx, "/ari/channels/"+url.PathEscape(id)+"/variable"+wslink.Query("variable", name), s.header, &answer)
	if err != nil {
		return "", false
	}
	if status == http.StatusNotFound { // of the function, or of the channel
		there, err := s.server.Get(ctx, "/ari/channels/"+url.PathEscape(id), s.header, &struct{}{})
		return "", err == nil && there == http.StatusOK
	}
	if status != http.StatusOK {
		return "", true
	}
	return answer.Value, true
}
