package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/contact"
)

// Lookup asks for the contacts of a telephone number (hub-api.md 4.3). No
// contacts and no error mean that the hub answered and nobody has the number.
// Every error is a *contact.LookupError. Callers with the same number share one
// request; an answer serves for a minute. A request whose callers have all gone
// is cancelled.
func (c *Client) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	if number == "" {
		return nil, failed(contact.HubError, "no number")
	}
	return c.flight.do(ctx, c, number)
}

// attempt is one lookup, with one repeat after a token that was refused.
func (c *Client) attempt(ctx context.Context, number string) ([]contact.Contact, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.LookupTimeout)
	defer cancel()
	for again := false; ; again = true {
		tok, err := c.token.get(ctx)
		if err != nil {
			return nil, err
		}
		found, status, err := c.ask(ctx, number, tok.AccessToken)
		if status != http.StatusUnauthorized {
			return found, err
		}
		c.token.drop(tok)
		if again {
			return nil, failed(contact.CredentialsRefused, statusDetail("lookup", status))
		}
	}
}

func (c *Client) ask(ctx context.Context, number, token string) ([]contact.Contact, int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+"/contact/contacts/telephony?q="+escape(number), nil)
	if err != nil {
		return nil, 0, failed(contact.NotSetUp, "address")
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, 0, transportError(ctx, err)
	}
	found, err := c.readAnswer(resp, raw)
	return found, resp.StatusCode, err
}

// readAnswer accepts every sensible form of "no contact" (the document shows
// none) and keeps it apart from failure.
func (c *Client) readAnswer(resp *http.Response, raw []byte) ([]contact.Contact, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isJSON := kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json" || kind == "text/plain"
	body := bytes.TrimSpace(raw)
	switch s := resp.StatusCode; {
	case s == http.StatusNoContent:
		return nil, nil
	case s == http.StatusNotFound:
		// Nobody, unless it is the page of something that is no Contact API.
		if len(body) == 0 || isJSON && (body[0] == '{' || body[0] == '[') || string(body) == "null" {
			return nil, nil
		}
		return nil, failed(contact.HubError, "lookup: the hub does not know this address")
	case s == http.StatusForbidden:
		return nil, failed(contact.ScopeRefused, statusDetail("lookup", s))
	case s == http.StatusUnauthorized:
		return nil, failed(contact.CredentialsRefused, statusDetail("lookup", s))
	case s == http.StatusProxyAuthRequired:
		return nil, failed(contact.ProxyLogin, statusDetail("lookup", s))
	case s == http.StatusGatewayTimeout || s == http.StatusRequestTimeout:
		return nil, failed(contact.HubSlow, statusDetail("lookup", s))
	case s != http.StatusOK:
		return nil, failed(contact.HubError, statusDetail("lookup", s))
	case len(raw) > maxAnswer:
		return nil, failed(contact.NotUnderstood, "lookup: too long")
	case !isJSON:
		return nil, failed(contact.NotUnderstood, "lookup: the answer is no JSON")
	}
	return decode(body, c.cfg.RelationNumberField)
}

// decode reads the answer of hub-api.md 4.3. Unknown fields are ignored, null
// and missing are the same, a wrong type is named by its field, without its
// content.
func decode(body []byte, relationField string) ([]contact.Contact, error) {
	var answer struct {
		Data *struct {
			Items []json.RawMessage `json:"items"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, notUnderstood(err)
	}
	if answer.Data == nil {
		return nil, nil
	}
	var found []contact.Contact
	for _, raw := range answer.Data.Items {
		if string(raw) == "null" {
			continue
		}
		k, err := decodeContact(raw, relationField)
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, nil
}

// word is a text; a number in its place is taken as its digits, since the hub's
// identifiers look like numbers.
type word string

func (w *word) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err == nil {
		if s != nil {
			*w = word(call.CleanText(*s, 512))
		}
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return &json.UnmarshalTypeError{Value: kindOf(b), Type: reflect.TypeFor[string]()}
	}
	*w = word(n.String())
	return nil
}

func kindOf(b []byte) string {
	switch b[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "bool"
}

type coded struct {
	Code        word `json:"code"`
	Description word `json:"description"`
}

func (c coded) contact() contact.Coded {
	return contact.Coded{Code: string(c.Code), Description: string(c.Description)}
}

type record struct {
	ID          word `json:"id"`
	Voorletters word `json:"voorletters"`
	Achternaam  word `json:"achternaam"`
	Voorvoegsel word `json:"voorvoegsel"`
	Woonadres   struct {
		Straat     word `json:"straat"`
		Huisnummer word `json:"huisnummer"`
		Toevoeging word `json:"toevoeging"`
		Postcode   word `json:"postcode"`
		Plaats     word `json:"plaats"`
		LandISO    word `json:"landIso"`
	} `json:"woonadres"`
	Producent           coded  `json:"producent"`
	LaatstGewijzigdDoor coded  `json:"laatstGewijzigdDoor"`
	Link                string `json:"link"`
}

func decodeContact(raw json.RawMessage, relationField string) (contact.Contact, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return contact.Contact{}, notUnderstood(err)
	}
	relation, err := relationNumber(raw, relationField)
	if err != nil {
		return contact.Contact{}, err
	}
	a := r.Woonadres
	return contact.Contact{
		ID: string(r.ID), RelationNumber: relation, Initials: string(r.Voorletters), Prefix: string(r.Voorvoegsel), FamilyName: string(r.Achternaam),
		Address: contact.Address{Street: string(a.Straat), Number: string(a.Huisnummer), Addition: string(a.Toevoeging),
			PostalCode: string(a.Postcode), City: string(a.Plaats), Country: string(a.LandISO)},
		Producer: r.Producent.contact(), LastModifiedBy: r.LaatstGewijzigdDoor.contact(), Link: r.Link,
	}, nil
}

// relationNumber finds the field whose name carries a system's name in the real
// interface (hub-api.md 2.3).
func relationNumber(raw json.RawMessage, name string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", notUnderstood(err)
	}
	best := ""
	for k := range all {
		switch {
		case name != "" && k == name:
			best = k
		case name == "" && strings.HasSuffix(strings.ToLower(k), "relatienummer") && (best == "" || k < best):
			best = k
		}
	}
	if best == "" {
		return "", nil
	}
	var w word
	if err := json.Unmarshal(all[best], &w); err != nil {
		return "", failed(contact.NotUnderstood, "lookup: the relation number is no text")
	}
	return string(w), nil
}

func notUnderstood(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return failed(contact.NotUnderstood, fmt.Sprintf("lookup: field %q is a %s", call.CleanText(wrong.Field, 80), wrong.Value[:min(len(wrong.Value), 6)]))
	}
	return failed(contact.NotUnderstood, "lookup: broken JSON")
}

// flights has callers with the same number share one request, and keeps answers
// for a minute. Failures are never kept.
type flights struct {
	mu   sync.Mutex
	now  func() time.Time
	open map[string]*flight
	kept map[string]answer
}

type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	found   []contact.Contact
	err     error
}

type answer struct {
	found []contact.Contact
	at    time.Time
}

// maxKept bounds the memory of answers.
const maxKept = 512

func (f *flights) set(now func() time.Time) {
	f.now, f.open, f.kept = now, map[string]*flight{}, map[string]answer{}
}

func (f *flights) do(ctx context.Context, c *Client, number string) ([]contact.Contact, error) {
	f.mu.Lock()
	if a, ok := f.kept[number]; ok {
		if age := f.now().Sub(a.at); age >= 0 && age < cacheFor {
			f.mu.Unlock()
			return a.found, nil
		}
		delete(f.kept, number)
	}
	fl := f.open[number]
	if fl == nil {
		fl = f.start(c, number)
	}
	fl.waiting++
	f.mu.Unlock()
	select {
	case <-fl.done:
		return fl.found, fl.err
	case <-ctx.Done():
		f.mu.Lock()
		if fl.waiting--; fl.waiting == 0 {
			fl.cancel() // nobody waits any more: the call is gone
			if f.open[number] == fl {
				delete(f.open, number)
			}
		}
		f.mu.Unlock()
		return nil, failed(contact.HubSlow, "given up")
	}
}

// start begins a request. f.mu is held.
func (f *flights) start(c *Client, number string) *flight {
	ctx, cancel := context.WithCancel(c.life)
	fl := &flight{done: make(chan struct{}), cancel: cancel}
	f.open[number] = fl
	c.work.Go(func() {
		defer cancel()
		fl.found, fl.err = c.attempt(ctx, number)
		f.mu.Lock()
		if f.open[number] == fl {
			delete(f.open, number)
		}
		if fl.err == nil {
			f.keep(number, fl.found)
		}
		f.mu.Unlock()
		close(fl.done)
	})
	return fl
}

func (f *flights) keep(number string, found []contact.Contact) {
	now := f.now()
	if len(f.kept) >= maxKept {
		for n, a := range f.kept {
			if now.Sub(a.at) >= cacheFor || len(f.kept) >= maxKept {
				delete(f.kept, n)
			}
		}
	}
	f.kept[number] = answer{found, now}
}
