package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
	"wiebelt/internal/text"
)

func open(t *testing.T) *Directory {
	t.Helper()
	_, js := natstest.Start(t, t.TempDir())
	return must.Get(Open(t.Context(), js, 1))(t)
}

var anna = Entry{User: "anna", Name: "Anna de Boer", Extensions: []string{"101"}, Numbers: []string{"020 123 45 01"}, Email: "Anna@kantoor.example"}

func (d *Directory) only(t *testing.T) Entry {
	t.Helper()
	all, err := d.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0]
}

// TestJoin: a code works once, for a week, for one user, however it is typed.
func TestJoin(t *testing.T) {
	d, ctx := open(t), t.Context()
	now := time.Now()
	d.now = func() time.Time { return now }
	if _, err := d.Invite(ctx, "anna"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a code for nobody: %v", err)
	}
	must.Do(t, d.Put(ctx, anna))
	code, err := d.Invite(ctx, "anna")
	if err != nil || len(code) != 19 || strings.Trim(code, alphabet+"-") != "" {
		t.Fatalf("%q, %v", code, err)
	}
	old := must.Get(d.Invite(ctx, "anna"))(t)
	for _, wrong := range []string{"", "7F3K", strings.Repeat("2", 16), code + "2", "*", ">", strings.Repeat("é", 8), "2222-2222-2222-2222\x00"} {
		if _, _, err := d.Join(ctx, wrong, "K"); !errors.Is(err, ErrCode) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	var joined atomic.Int32
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			u, _, err := d.Join(ctx, " "+strings.ToLower(strings.ReplaceAll(code, "-", " ")), fmt.Sprint("K", i))
			if err == nil && u == "anna" {
				joined.Add(1)
			} else if !errors.Is(err, ErrCode) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if e := d.only(t); joined.Load() != 1 || len(e.Keys) != 1 {
		t.Errorf("%d joined: %+v", joined.Load(), e)
	}
	now = now.Add(CodeLife + time.Second)
	if _, _, err := d.Join(ctx, old, "K"); !errors.Is(err, ErrCode) {
		t.Errorf("after a week: %v", err)
	}
}

// TestRemove: a removed user's keys and codes are invalid; who comes back joins anew.
func TestRemove(t *testing.T) {
	d, ctx := open(t), t.Context()
	if _, err := d.Remove(ctx, "anna"); !errors.Is(err, ErrUnknown) {
		t.Errorf("nobody: %v", err)
	}
	join := func(key string) error {
		code, err := d.Invite(ctx, "anna")
		if err != nil {
			return err
		}
		_, _, err = d.Join(ctx, code, key)
		return err
	}
	must.Do(t, d.Put(ctx, anna), join("K1"), join("K2"))
	code, err := d.Invite(ctx, "anna")
	must.Do(t, err, d.Put(ctx, anna))
	if len(d.only(t).Keys) != 2 || len(Revoked([]Entry{d.only(t)}, time.Now())) != 0 {
		t.Errorf("changed: %+v", d.only(t))
	}
	must.Get(d.Remove(ctx, "anna"))(t)
	e := d.only(t)
	if gone := Revoked([]Entry{e}, time.Now()); len(gone) != 2 || gone["K1"].IsZero() || e.Name+e.Email != "" || len(e.Numbers)+len(e.Extensions) != 0 {
		t.Errorf("%v is left of %+v", gone, e)
	}
	if gone := Revoked([]Entry{e}, time.Now().Add(credentials.Lifetime+time.Minute)); len(gone) != 0 {
		t.Errorf("once no token of hers holds: %v", gone)
	}
	if NewTable([]Entry{e}, nil).Knows("anna") {
		t.Error("she is known")
	}
	must.Do(t, d.Put(ctx, anna))
	if _, _, err := d.Join(ctx, code, "K3"); !errors.Is(err, ErrCode) {
		t.Errorf("with a code of before: %v", err)
	}
	must.Do(t, join("K4"))
	if gone := Revoked([]Entry{d.only(t)}, time.Now()); len(gone) != 2 || !gone["K4"].IsZero() {
		t.Errorf("back again: %v", gone)
	}
}

// TestFailedJoin: a code with which joining failed is valid again.
func TestFailedJoin(t *testing.T) {
	d, ctx := open(t), t.Context()
	must.Do(t, d.Put(ctx, anna))
	code := must.Get(d.Invite(ctx, "anna"))(t)
	if _, _, err := d.Join(ctx, code, strings.Repeat("K", maxEntry)); err == nil || errors.Is(err, ErrCode) {
		t.Fatalf("more than an entry holds: %v", err)
	}
	_, _, err := d.Join(ctx, code, "K")
	must.Do(t, err)
	code = must.Get(d.Invite(ctx, "anna"))(t)
	kept := d.joins
	for _, applied := range []bool{true, false} {
		d.joins = unanswered{kept, applied}
		if _, _, err := d.Join(ctx, code, "L"); err == nil || errors.Is(err, ErrCode) {
			t.Errorf("without an answer of the server: %v", err)
		}
	}
	d.joins = kept
	_, _, err = d.Join(ctx, code, "L")
	must.Do(t, err)
}

// unanswered is a bucket that does not answer deletions,
// whether or not they were performed.
type unanswered struct {
	jetstream.KeyValue
	applied bool
}

func (u unanswered) Delete(ctx context.Context, key string, o ...jetstream.KVDeleteOpt) error {
	if u.applied {
		_ = u.KeyValue.Delete(ctx, key, o...)
	}
	return context.DeadlineExceeded
}

// TestManyComputers: if a user joins on too many computers, the oldest is dropped; keys for
// which no token can be valid any more are forgotten. Joining again and again, as with
// computers recreated every day, always works; a program's keys are kept.
func TestManyComputers(t *testing.T) {
	e := anna
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	program := Key{Public: "P", AddedAt: at, Revoked: at, NeverExpires: true}
	for _, each := range []time.Duration{time.Hour, 24 * time.Hour} {
		e.Keys = []Key{program}
		for i := range 2 * maxKeys {
			at = at.Add(each)
			e.join(Key{Public: "U" + strings.Repeat("K", 48) + fmt.Sprintf("%07d", i), AddedAt: at})
			b, err := json.Marshal(e)
			if err := errors.Join(err, e.Check()); err != nil || len(b) > maxEntry {
				t.Fatal(i, len(b), err)
			}
		}
		hold := slices.DeleteFunc(slices.Clone(e.Keys), func(k Key) bool { return !k.Revoked.IsZero() })
		if len(hold) != maxComputers || !strings.HasSuffix(hold[0].Public, fmt.Sprint(2*maxKeys-maxComputers)) || e.Keys[0] != program {
			t.Errorf("%+v", hold)
		}
	}
	if oldest := e.Keys[1]; at.Sub(oldest.Revoked) > credentials.Lifetime {
		t.Errorf("still knows %+v", oldest)
	}
}

// TestImport: a watcher receives hundreds of additions in few, large batches.
func TestImport(t *testing.T) {
	d, n, told := open(t), 300, 0
	ctx, stop := context.WithCancel(t.Context())
	added := make(chan struct{})
	go func() {
		defer close(added)
		for i := range n {
			if err := d.Put(ctx, Entry{User: wire.User(fmt.Sprint("u", i))}); err != nil {
				t.Error(err)
			}
		}
	}()
	err := d.Watch(ctx, func(all []Entry) {
		<-added
		if told++; len(all) == n {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || told > n/10 {
		t.Errorf("told %d times: %v", told, err)
	}
}

// deaf is a bucket whose first watch receives nothing, and whose second one receives
// nothing more once it has begun.
type deaf struct {
	jetstream.KeyValue
	watches int
	told    bool // the second watch has delivered
}

type deafWatcher struct {
	jetstream.KeyWatcher
	*deaf
}

func (d *deaf) WatchAll(ctx context.Context, o ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	d.watches++
	w, err := d.KeyValue.WatchAll(ctx, o...)
	return deafWatcher{w, d}, err
}

func (w deafWatcher) Updates() <-chan jetstream.KeyValueEntry {
	if w.watches == 1 || w.watches == 2 && w.told {
		return nil
	}
	return w.KeyWatcher.Updates()
}

// TestDeaf: a watch whose server has ended silently is restarted, whether
// or not it was complete.
func TestDeaf(t *testing.T) {
	d := open(t)
	must.Do(t, d.Put(t.Context(), anna))
	b := &deaf{KeyValue: d.users}
	d.users = b
	ctx, stop := context.WithCancel(t.Context())
	err := d.Watch(ctx, func(all []Entry) {
		if b.told {
			stop()
			return
		}
		b.told = true
		must.Do(t, d.Put(t.Context(), Entry{User: "bob"}))
	})
	if !errors.Is(err, context.Canceled) || b.watches != 3 {
		t.Errorf("%d watches: %v", b.watches, err)
	}
}

// TestTable: the table determines which users a call is for. A call that rings at somebody
// unknown to the relay is not for the others in the queue.
func TestTable(t *testing.T) {
	rules := phone.DefaultRules()
	bob := Entry{User: "bob", Extensions: []string{"102", "Balie"}, Numbers: []string{"+31201234501"}, Queues: []string{"Schade"}}
	left := Entry{User: "dirk", Extensions: []string{"101"}, Removed: time.Now()}
	carla := Entry{User: "carla", Queues: []string{"Nieuw", "schade "}}
	table := NewTable([]Entry{anna, bob, carla, left}, rules)
	at := func(extension, email, called string) (p webhook.Place) {
		if extension != "" {
			p.Extensions = []string{extension}
		}
		if email != "" {
			p.Emails = []string{"nobody@kantoor.example", email}
		}
		p.Called = called
		return p
	}
	for _, one := range []struct {
		webhook.Place
		queue string
		want  []wire.User
	}{
		{at("101", "", ""), "", []wire.User{"anna"}},
		{at(" BALIE ", "", ""), "", []wire.User{"bob"}},
		{at("", "anna@Kantoor.example", ""), "", []wire.User{"anna"}},
		{at("999", anna.Email, ""), "", []wire.User{"anna"}},
		{at("", "", "0201234501"), "", []wire.User{"anna", "bob"}},
		{at("", "", "0031201234501"), "", []wire.User{"anna", "bob"}},
		{at("+31201234501", "", ""), "", []wire.User{"anna", "bob"}},
		{at("102", "", "0201234501"), "", []wire.User{"bob"}},
		{at("999", "", "0201234501"), "", nil},
		{at("", "", "0201234599"), "", nil},
		{},
		{webhook.Place{}, "SCHADE", []wire.User{"bob", "carla"}},
		{at("", "", "0201234599"), "Nieuw", []wire.User{"carla"}},
		{at("", "", "0201234501"), "Nieuw", []wire.User{"anna", "bob"}},
		{at("101", "", ""), "Nieuw", []wire.User{"anna"}},
		{at("999", "", ""), "Nieuw", nil},
		{at("", "bert@kantoor.example", ""), "Nieuw", nil},
		{webhook.Place{}, "Balie", nil},
	} {
		if got := table.UsersCalled(one.Place, one.queue); !slices.Equal(got, one.want) {
			t.Errorf("%+v in %s: %v, want %v", one.Place, one.queue, got, one.want)
		}
	}
	if table.Label("anna") != "Anna de Boer" || table.Label("bob") != "bob" || table.Knows("dirk") {
		t.Error("labels")
	}
}

func TestBadUsers(t *testing.T) {
	for _, s := range []string{"", "[]", "{}", `{"user":"anna","keys":7}`, `{"user":"Anna"}`, `{"user":"anna","name":"` + strings.Repeat("x", maxEntry) + `"}`} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("%.40q is a user", s)
		}
	}
}

// TestReadCSV: tables as spreadsheets write them are read completely or not at all.
func TestReadCSV(t *testing.T) {
	want := []Entry{
		{User: "anna", Name: "Anaïs de Boer", Extensions: []string{"101", "102"}, Numbers: []string{"020 123 4501"}, Email: "anna@kantoor.example", Queues: []string{"Schade", "Nieuwe polissen"}},
		{User: "bob.k"},
	}
	for _, in := range []string{
		"user,name,extensions,numbers,email,queues\nanna,Anaïs de Boer,101 102,020 123 4501,anna@kantoor.example,Schade|Nieuwe polissen\nBob.K,,,,,\n",
		"\ufeffExtensions;User;Name;Email;Numbers;Queues\r\n\" 101 | 102\";anna;Anaïs de Boer;anna@kantoor.example;020 123 4501;Schade, Nieuwe polissen\r\n;bob.k;;;;",
		"user;name;extensions;numbers;email;queues\r\nanna;Ana\xefs de Boer;101 102;020 123 4501;anna@kantoor.example;Schade|Nieuwe polissen\r\nbob.k;;;;;\r\n",
	} {
		if got, missing, err := ReadCSV(strings.NewReader(in)); err != nil || len(missing) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %q, %v", in, got, missing, err)
		}
	}
	if _, missing, err := ReadCSV(strings.NewReader("email,user\na@kantoor.example,anna\n")); err != nil || !reflect.DeepEqual(missing, []string{"name", "extensions", "numbers", "queues"}) {
		t.Errorf("missing are %q, %v", missing, err)
	}
	for in, is := range map[string]error{
		"": ErrCSV, "anna,101\n": ErrCSV, "name,email\n": ErrCSV, "user,user\n": ErrCSV, "user,phone\nanna,101\n": ErrCSV,
		"user,name\nanna\n": ErrCSV, "user\nanna\n\"b": ErrCSV, "user\nanna\nANNA\n": ErrDuplicateUser, "user\nanna b\n": wire.ErrUser, "user\n\"\"\n": wire.ErrUser,
		"user,name\nanna," + strings.Repeat("n", maxText+1) + "\n": ErrTooLong, "user,numbers\nanna," + strings.Repeat("1|", maxNumbers+1) + "\n": ErrTooMany,
		"user\n" + strings.Repeat("a", maxCSV): ErrFileTooLarge,
	} {
		got, _, err := ReadCSV(strings.NewReader(in))
		if !errors.Is(err, is) || got != nil {
			t.Errorf("%.60q: %v, %v", in, got, err)
		}
		if at, ok := errors.AsType[*text.Error](err); !ok || at.Key == text.RelayLine && at.Args[0].(int) < 2 {
			t.Errorf("%.60q: %v", in, err)
		}
	}
}
