package settings

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPlist: what a device management of macOS sets becomes settings, from both
// forms alike.
func TestPlist(t *testing.T) {
	for _, name := range []string{"xml", "binary"} {
		b, err := os.ReadFile("testdata/managed." + name + ".plist")
		if err != nil {
			t.Fatal(err)
		}
		found, err := parsePlist(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all := map[string]any{"hub": map[string]any{"proxy": "none", "client_id": "user"}, "history": 1}
		overlay(all, found)
		s := Defaults()
		s.apply(managedLayer(all))
		if s.Audit != "eventlog" || s.Hub.BaseURL != "https://hub.example" || s.Hub.ClientID != "büro" || s.Hub.Proxy != "none" || !s.Hub.OpenAtStart || s.Hub.SecretExpires.IsZero() ||
			s.History.Days != 14 || s.History.Choices || !slices.Equal(s.Phone.InternalPrefixes, []string{"*8", "7"}) || len(s.Lines) != 2 ||
			!strings.HasPrefix(s.Lines[0].Name, "Schade – x") || len(s.Softphones) != 1 || s.Source("hub.base_url") != Policy {
			t.Errorf("%s: %+v", name, s)
		}
		var keys []string
		for _, p := range s.Problems() {
			keys = append(keys, p.Key)
		}
		if !slices.Equal(keys, []string{"PayloadDate", "card.corner", "nonsense"}) {
			t.Errorf("%s: %v", name, keys)
		}
		for n := range len(b) { // cut anywhere
			if _, err := parsePlist(b[:n]); err == nil && n < len(b)-1 {
				t.Errorf("%s: cut after %d bytes it is whole", name, n)
			}
		}
	}
}

// TestPlistRefuses: lists that refer to themselves, or to far too much, end.
func TestPlistRefuses(t *testing.T) {
	// A dictionary that is its own value, and arrays that each hold the next twice.
	loop := binaryOf([][]byte{{0xD1, 1, 0}, {0x51, 'a'}})
	var fan [][]byte
	for i := range byte(100) {
		fan = append(fan, []byte{0xA2, i + 1, i + 1})
	}
	fan = append(fan, []byte{0x09})
	for name, b := range map[string][]byte{
		"nothing": nil, "another thing": []byte("bplist01"), "a root that is no dictionary": binaryOf([][]byte{{0x09}}), "itself": loop, "a fan": binaryOf(fan),
		"deep XML":   []byte("<plist>" + strings.Repeat("<array>", 10_000)),
		"wide XML":   []byte("<plist><array>" + strings.Repeat("<true/>", 2*plistObjects) + "</array></plist>"),
		"an integer": []byte("<plist><dict><key>a</key><integer>x</integer></dict></plist>"),
	} {
		if v, err := parsePlist(b); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// binaryOf writes objects of less than 256 bytes in all as a binary list.
func binaryOf(objects [][]byte) []byte {
	b := []byte("bplist00")
	var table []byte
	for _, o := range objects {
		table = append(table, byte(len(b)), byte(len(b)>>8))
		table[len(table)-2], table[len(table)-1] = table[len(table)-1], table[len(table)-2]
		b = append(b, o...)
	}
	at := len(b)
	b = append(b, table...)
	b = append(b, 0, 0, 0, 0, 0, 0, 2, 1)
	b = binary.BigEndian.AppendUint64(b, uint64(len(objects)))
	b = binary.BigEndian.AppendUint64(b, 0)
	return binary.BigEndian.AppendUint64(b, uint64(at))
}

func FuzzPlist(f *testing.F) {
	for _, name := range []string{"xml", "binary"} {
		b, err := os.ReadFile("testdata/managed." + name + ".plist")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if found, err := parsePlist(bytes.Clone(b)); err == nil {
			s := Defaults()
			s.apply(managedLayer(found))
			_ = s.Values()
		}
	})
}
