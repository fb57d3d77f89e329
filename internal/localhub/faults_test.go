package localhub_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/localhub"
)

func TestFaultsOfALookup(t *testing.T) {
	h := start(t, localhub.Config{})
	if _, err := h.AddContact(t.Context(), person("Een", "0612345678")); err != nil {
		t.Fatal(err)
	}
	tok, f := token(t, h), h.Faults()
	good := lookup(t, h, tok, "0612345678").body
	valid := func(s string) bool { return json.Valid([]byte(s)) }
	for name, c := range map[string]struct {
		fault localhub.Fault
		check func(a answer, err error) bool
	}{
		"500":       {localhub.Fault{Status: 500}, func(a answer, err error) bool { return err == nil && a.status == 500 && valid(a.body) }},
		"html":      {localhub.Fault{Body: localhub.BodyHTML}, func(a answer, _ error) bool { return a.status == 200 && strings.HasPrefix(a.body, "<!doctype") }},
		"truncated": {localhub.Fault{Body: localhub.BodyTruncated}, func(a answer, err error) bool { return err == nil && a.status == 200 && a.body == good[:len(good)/2] }},
		"cut":       {localhub.Fault{Body: localhub.BodyCut}, func(a answer, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) && a.status == 200 }},
		"empty":     {localhub.Fault{Body: localhub.BodyEmpty}, func(a answer, err error) bool { return err == nil && a.status == 200 && a.body == "" }},
		"wrong":     {localhub.Fault{Body: localhub.BodyWrong}, func(a answer, err error) bool { return err == nil && valid(a.body) && a.body != good }},
		"drop":      {localhub.Fault{Drop: true}, func(_ answer, err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }},
	} {
		f.Set(localhub.AtLookup, c.fault)
		a, err := try(t, client(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0612345678", "", "Authorization", "Bearer "+tok)
		if !c.check(a, err) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if askToken(t, h).status != 200 {
			t.Errorf("%s: the token endpoint is broken too", name)
		}
		f.Clear(localhub.AtLookup)
		if a := lookup(t, h, tok, "0612345678"); a.body != good {
			t.Errorf("%s: not mended: %+v", name, a)
		}
	}
}

func TestFaultHoldsForSoManyRequests(t *testing.T) {
	h := start(t, localhub.Config{})
	tok := token(t, h)
	h.Faults().Set(localhub.AtLookup, localhub.Fault{Status: 401, Times: 1})
	for i, want := range []int{401, 200, 200} {
		if a := lookup(t, h, tok, "0612345678"); a.status != want {
			t.Errorf("request %d: %d", i, a.status)
		}
	}
}

func TestFaultDelay(t *testing.T) {
	h := start(t, localhub.Config{})
	h.Faults().Set(localhub.AtToken, localhub.Fault{Delay: 50 * time.Millisecond})
	began := time.Now()
	if askToken(t, h).status != 200 || time.Since(began) < 50*time.Millisecond {
		t.Error("not late, or not answered")
	}
}

func TestRefuseCredentials(t *testing.T) {
	h := start(t, localhub.Config{})
	tok := token(t, h)
	h.Faults().RefuseCredentials(true)
	if a := lookup(t, h, tok, "0612345678"); a.status != 401 {
		t.Errorf("old token: %d", a.status)
	}
	if a := askToken(t, h); a.status != 401 || errorCode(t, a) != "invalid_client" {
		t.Errorf("new token: %d", a.status)
	}
	if err := h.Faults().Reset(); err != nil {
		t.Fatal(err)
	}
	if a := lookup(t, h, tok, "0612345678"); a.status != 200 {
		t.Errorf("afterwards: %d", a.status)
	}
}

func TestGoneAndBack(t *testing.T) {
	h := start(t, localhub.Config{})
	c, f := client(t), h.Faults()
	u := h.BaseURL() + "/login"
	do(t, c, "GET", u, "") // leaves a connection open
	for range 3 {
		if err := f.SetGone(true); err != nil {
			t.Fatal(err)
		}
		if err := f.SetGone(true); err != nil { // once more changes nothing
			t.Fatal(err)
		}
		if _, err := try(t, c, "GET", u, ""); err == nil {
			t.Fatal("answered")
		}
		if _, err := try(t, client(t), "GET", u, ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("want refused, got %v", err)
		}
		if err := f.SetGone(false); err != nil {
			t.Fatal(err)
		}
		if a := do(t, c, "GET", u, ""); a.status != 200 || h.BaseURL()+"/login" != u {
			t.Errorf("back: %d", a.status)
		}
	}
	if err := f.SetGone(true); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil { // closing while gone
		t.Fatal(err)
	}
	if err := f.SetGone(false); err != nil { // a hub that has ended stays away
		t.Error(err)
	}
}

func TestGoneFromTheStart(t *testing.T) {
	f := &localhub.Faults{}
	if err := f.SetGone(true); err != nil {
		t.Fatal(err)
	}
	h := start(t, localhub.Config{Faults: f})
	if _, err := try(t, client(t), "GET", h.BaseURL()+"/login", ""); err == nil {
		t.Error("answered")
	}
	if err := f.Reset(); err != nil {
		t.Fatal(err)
	}
	do(t, client(t), "GET", h.BaseURL()+"/login", "")
}
