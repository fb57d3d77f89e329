package localhub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

// people is a file with n contacts, and a row behind them.
func people(n int, f localhub.Format, last string) *strings.Reader {
	var b strings.Builder
	if f == localhub.CSV {
		b.WriteString("id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;toevoeging;postcode;plaats;landIso;producent_code;producent;telefoon;telefoon2;email\r\n")
	}
	for i := range n {
		if f == localhub.CSV {
			fmt.Fprintf(&b, "person-%d;%d;J.M.;van der;Naam;Lindelaan;%d;A;1234AB;Ons Dorp;NL;P001;Kantoor;06-%08d;020 %07d;p%d@example.org\r\n", i, 100000+i, i, i, i/3, i)
			continue
		}
		fmt.Fprintf(&b, `{"id":"person-%d","backofficerelatienummer":"%d","achternaam":"Naam","woonadres":{"straat":"Lindelaan","huisnummer":"%d"},"telefoon":["06-%08d","020 %07d"],"email":["p%d@example.org"]}`+"\n",
			i, 100000+i, i, i, i/3, i)
	}
	b.WriteString(last)
	return strings.NewReader(b.String())
}

// TestImportAllOrNone: a bad last row, and an end in the middle.
func TestImportAllOrNone(t *testing.T) {
	for name, f := range map[string]localhub.Format{"CSV": localhub.CSV, "JSON": localhub.JSON} {
		d := openData(t, t.TempDir())
		if n, lines := importText(t, d, localhub.CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", localhub.ImportOptions{}); n != 1 {
			t.Fatal(lines)
		}
		unchanged := func(what string) {
			t.Helper()
			_, found, err := d.Contact(t.Context(), "van-eerder")
			if n := count(t, d); n != 1 || !found || err != nil {
				t.Fatalf("%s: %s: %d contacts, %v", name, what, n, err)
			}
		}
		const n = 2000
		last, where := ";;;;;;;;;;;;;;;\"\"\r\nvan-eerder;;;;X;;;;;;;;;;;geen adres\r\n", fmt.Sprint("line ", n+3)
		if f == localhub.JSON {
			last, where = `{"achternaam":"X","email":"geen adres"}`, fmt.Sprint("record ", n+1)
		}
		for _, replace := range []bool{false, true} {
			_, err := d.Import(t.Context(), people(n, f, last), f, localhub.ImportOptions{Replace: replace})
			var wrong *localhub.ImportError
			if !errors.As(err, &wrong) || fmt.Sprint(wrong.Lines()) != "["+where+": email: is no e-mail address]" {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a bad last row")
			for _, after := range []int{1000, n} { // while reading, and before storing
				ctx, cancel := context.WithCancel(t.Context())
				_, err := d.Import(ctx, people(n, f, ""), f, localhub.ImportOptions{Replace: replace, Progress: func(rows int, _ int64) {
					if rows >= after {
						cancel()
					}
				}})
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				unchanged("an end in the middle")
			}
			_, err = d.Import(t.Context(), io.MultiReader(people(n, f, ""), broken{}), f, localhub.ImportOptions{Replace: replace})
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: %v", name, err)
			}
			unchanged("a file that cannot be read on")
		}
		if got, err := d.Import(t.Context(), people(n, f, ""), f, localhub.ImportOptions{}); got != n || err != nil || count(t, d) != n+1 {
			t.Errorf("%s: then: %d, %v", name, got, err)
		}
	}
}

var errBroken = errors.New("broken disk")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// TestImportWhileServing: a running hub goes on answering, sees all of an import
// or nothing, and its own writing waits for its turn.
func TestImportWhileServing(t *testing.T) {
	const n = 1500
	dir := t.TempDir()
	h := start(t, localhub.Config{Dir: dir})
	must.Get(h.AddContact(t.Context(), person("Eerder", "0699999999")))(t)
	tok, c := token(t, h), client(t)
	ask := func(number string) int {
		return len(items(t, do(t, c, "GET", h.BaseURL()+"/contact/contacts/telephony?q="+number, "", "Authorization", "Bearer "+tok)))
	}
	d := openData(t, dir)
	done := make(chan error, 1)
	reading := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := d.Import(t.Context(), people(n, localhub.CSV, ""), localhub.CSV, localhub.ImportOptions{Progress: func(int, int64) {
			once.Do(func() {
				// The import waits for this: nothing is locked while it reads.
				if err := h.SetClientSecret(t.Context(), "meanwhile", org, secret); err != nil {
					t.Error(err)
				}
				close(reading)
			})
		}})
		done <- err
	}()
	<-reading
	for ended := false; !ended; {
		select {
		case err := <-done:
			must.Do(t, err)
			ended = true
		default:
		}
		first, last := ask("0600000001"), ask(fmt.Sprintf("06%08d", n-1))
		if first > last || ended && last != 1 || ask("0699999999") != 1 {
			t.Fatalf("the first is found %d times, the last %d", first, last)
		}
		if err := h.SetClientSecret(t.Context(), "another", org, secret); err != nil {
			t.Fatalf("the hub cannot write: %v", err)
		}
	}
}
