package users

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"wiebelt/internal/relay/wire"
)

// TestReadCSV: tables as spreadsheets write them are read completely or not at all.
func TestReadCSV(t *testing.T) {
	want := []Entry{
		{User: "anna", Name: "Anna de Boer", Extensions: []string{"101", "102"}, Numbers: []string{"020 123 4501"}, Email: "anna@kantoor.example", Queues: []string{"Schade", "Nieuwe polissen"}},
		{User: "bob.k"},
	}
	for _, in := range []string{
		"user,name,extensions,numbers,email,queues\nanna,Anna de Boer,101 102,020 123 4501,anna@kantoor.example,Schade|Nieuwe polissen\nBob.K,,,,,\n",
		"\ufeffExtensions;User;Name;Email;Numbers;Queues\r\n\" 101 | 102\";anna;Anna de Boer;anna@kantoor.example;020 123 4501;Schade, Nieuwe polissen\r\n;bob.k;;;;",
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
		"user,name\nanna\n": ErrCSV, "user\nanna\n\"b": ErrCSV, "user\nanna\nANNA\n": ErrTwice, "user\nanna b\n": wire.ErrName, "user\n\"\"\n": wire.ErrName,
		"user,name\nanna," + strings.Repeat("n", maxText+1) + "\n": ErrLong, "user,numbers\nanna," + strings.Repeat("1|", maxNumbers+1) + "\n": ErrMany,
		"user\n" + strings.Repeat("a", maxCSV): ErrTooMuch,
	} {
		got, _, err := ReadCSV(strings.NewReader(in))
		if !errors.Is(err, is) || got != nil {
			t.Errorf("%.60q: %v, %v", in, got, err)
		}
		if at, ok := errors.AsType[*LineError](err); ok && at.Line < 2 {
			t.Errorf("%.60q: line %d", in, at.Line)
		}
	}
}
