package localhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"wiebelt/internal/testutil/must"
)

func people(n int, f Format, last string) *strings.Reader {
	var b strings.Builder
	if f == CSV {
		b.WriteString("id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;toevoeging;postcode;plaats;landIso;producent_code;producent;telefoon;telefoon2;email\r\n")
	}
	for i := range n {
		if f == CSV {
			fmt.Fprintf(&b, "person-%d;%d;J.M.;van der;Naam;Lindelaan;%d;A;1234AB;Ons Dorp;NL;P001;Kantoor;06-%08d;020 %07d;p%d@example.org\r\n", i, 100000+i, i, i, i/3, i)
			continue
		}
		fmt.Fprintf(&b, `{"id":"person-%d","backofficerelatienummer":"%d","achternaam":"Naam","woonadres":{"straat":"Lindelaan","huisnummer":"%d"},"telefoon":["06-%08d","020 %07d"],"email":["p%d@example.org"]}`+"\n",
			i, 100000+i, i, i, i/3, i)
	}
	b.WriteString(last)
	return strings.NewReader(b.String())
}

// TestImportAllOrNone checks that a bad last row, a broken
// disk and a canceled context leave the hub unchanged.
func TestImportAllOrNone(t *testing.T) {
	const n = progressEvery + 1
	errBroken := errors.New("broken disk")
	for f, replace := range map[Format]bool{CSV: true, JSON: false} {
		d := openFolder(t, t.TempDir())
		if n, lines := importText(t, d, CSV, "id,achternaam,telefoon\nvan-eerder,Eerder,0699999999\n", ImportOptions{}); n != 1 {
			t.Fatal(lines)
		}
		fails := func(ctx context.Context, r io.Reader, progress func(int, int64)) error {
			t.Helper()
			_, err := d.Import(ctx, r, f, ImportOptions{Replace: replace, Progress: progress})
			if n := count(t, d); n != 1 || held(t, d, "van-eerder").FamilyName != "Eerder" {
				t.Fatalf("%v: %d contacts", f, n)
			}
			return err
		}
		last, where := ";;;;;;;;;;;;;;;\"\"\r\nvan-eerder;;;;X;;;;;;;;;;;geen adres\r\n", fmt.Sprint("line ", n+3)
		if f == JSON {
			last, where = `{"achternaam":"X","email":"geen adres"}`, fmt.Sprint("record ", n+1)
		}
		var wrong *ImportError
		if err := fails(t.Context(), people(n, f, last), nil); !errors.As(err, &wrong) || fmt.Sprint(wrong.Lines()) != "["+where+": email: is no e-mail address]" {
			t.Errorf("%v: %v", f, err)
		}
		if err := fails(t.Context(), io.MultiReader(people(n, f, ""), iotest.ErrReader(errBroken)), nil); !errors.Is(err, errBroken) {
			t.Errorf("%v: %v", f, err)
		}
		for _, after := range []int{progressEvery, n} { // while reading and before storing
			ctx, cancel := context.WithCancel(t.Context())
			if err := fails(ctx, people(n, f, ""), func(rows int, _ int64) {
				if rows >= after {
					cancel()
				}
			}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v: %v", f, err)
			}
			cancel()
		}
		if got, err := d.Import(t.Context(), people(n, f, ""), f, ImportOptions{}); got != n || err != nil || count(t, d) != n+1 {
			t.Errorf("%v: then: %d, %v", f, got, err)
		}
	}
}

// TestImportWhileServing checks that a running hub keeps answering during
// an import, sees all of it or nothing, and waits its turn to write.
func TestImportWhileServing(t *testing.T) {
	const n = progressEvery + 1
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	if n, lines := importText(t, h.Data, CSV, "achternaam,telefoon\nEerder,0699999999\n", ImportOptions{}); n != 1 {
		t.Fatal(lines)
	}
	tok, c := token(t, h), newClient(t)
	ask := func(number string) int {
		return len(items(t, do(t, c, "GET", h.BaseURL()+"/contact/contacts/telephony?q="+number, "", "Authorization", "Bearer "+tok)))
	}
	d := openFolder(t, dir)
	done := make(chan error, 1)
	reading := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := d.Import(t.Context(), people(n, CSV, ""), CSV, ImportOptions{Progress: func(int, int64) {
			once.Do(func() {
				// The import waits here: it locks nothing while it reads.
				must.Do(t, h.SetClientSecret(t.Context(), "meanwhile", org, secret))
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
