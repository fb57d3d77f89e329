package message

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"testing"
)

// zipCase is a crafted ZIP and its correct verdict: every finding above a note.
type zipCase struct {
	name string
	zip  []byte
	want string // codes of warnings and refusals
}

func extraOf(id int, b []byte) []byte { return put(nil, id, len(b), b) }

func named(name string) []byte { return message(item{name: name, content: "x"}).bytes() }

// zipCases is created once: the bombs are slow.
var zipCases = sync.OnceValue(func() []zipCase {
	good := message().bytes()
	nul := strings.Repeat("\x00", 40<<20)
	bomb := deflated(nul)
	many := crafted{}
	for i := range 10_001 {
		many.items = append(many.items, item{name: fmt.Sprint(i)})
	}
	long := crafted{}
	for i := range 100 {
		long.items = append(long.items, item{name: fmt.Sprint(i), extra: extraOf(0x9999, make([]byte, 60_000))})
	}
	overlapping := crafted{items: []item{{name: "a.xml", content: example, deflate: true}}}
	for i := range 50 {
		overlapping.items = append(overlapping.items, item{name: fmt.Sprint(i), content: example, deflate: true, same: 1})
	}
	ranges := message(item{name: "b.bin", content: strings.Repeat("b", 100)}).bytes()
	at := bytes.LastIndex(ranges, sigDirectory)
	binary.LittleEndian.PutUint32(ranges[at+20:], 5000) // longer than the available space
	binary.LittleEndian.PutUint32(ranges[at+24:], 5000)
	beyond := bytes.Clone(good)
	binary.LittleEndian.PutUint32(beyond[bytes.LastIndex(beyond, sigDirectory)+42:], 5000)
	utf8Name := crc32.ChecksumIEEE([]byte("brief.txt"))
	oldName := crc32.ChecksumIEEE([]byte("caf\x82.txt"))
	wideEntry := func(unpacked, packed uint64) []byte {
		return with(func(c *crafted) {
			c.items[1].extra = extraOf(extraZip64, put(nil, unpacked, packed))
			c.items[1].unpacked = 0xffffffff
		})
	}

	crowd := message()
	for i := range 70 {
		crowd.items = append(crowd.items, item{name: fmt.Sprintf("%d.xml", i), content: "<x/>"})
	}

	return []zipCase{
		{"a message", good, ""},
		{"a message with a comment", with(func(c *crafted) { c.comment = "gemaakt voor een test" }), ""},
		{"records of 64 bits", with(func(c *crafted) { c.wide = true }), ""},
		{"sizes behind the contents", with(func(c *crafted) { c.items[0].describe, c.items[1].describe = true, true }), ""},
		{"a folder", message(item{name: "map/"}, item{name: "map/brief.txt", content: "x"}).bytes(), ""},
		{"a name with accents", message(item{name: "één…€.txt", content: "x", flags: flagUTF8}).bytes(), ""},
		{"a name in an old character set", named("caf\x82.txt"), ""},
		{"a name in UTF-8 without a mark", named("é.txt"), ""},
		{"a second name for an old one", message(item{name: "caf\x82.txt", content: "x", extra: extraOf(extraName, put(nil, "\x01", oldName, "café.txt"))}).bytes(), ""},
		{"another type", zipped("bericht.xml", "<Anders><A/></Anders>"), "other_type"},
		{"no XML", zipped("brief.txt", "x"), "no_document"},
		{"XML without its extension", zipped("a", "\xef\xbb\xbf"+example, "b", "\xff\xfe"+utf16Of(binary.LittleEndian, declared("UTF-16")),
			"c", "\xfe\xff"+utf16Of(binary.BigEndian, declared("UTF-16")), "d", example[strings.Index(example, "<Contract"):]), strings.Repeat(" attachment_missing", 4)[1:]},
		{"two messages", zipped("a.xml", example, "b.xml", example, "polis.pdf", "x"), ""},
		{"an attachment that is broken XML", message(item{name: "c.xml", content: "<a>"}).bytes(), ""},
		{"many XML files", crowd.bytes(), ""},
		{"an attachment that is missing", zipped("bericht.xml", example, "polis.pdf/", ""), "attachment_missing"},
		{"an attachment in capitals", zipped("bericht.xml", example, "POLIS.PDF", "x"), "attachment_case"},
		{"an attachment in a folder", zipped("bericht.xml", example, "map/polis.pdf", "x"), ""},
		{"an attachment of another extension", zipped("bericht.xml", strings.Replace(example, ">pdf<", ">tif<", 1), "polis.pdf", "x"), "attachment_extension"},

		{"nothing", nil, "empty_file"},
		{"a text", []byte("<html>geen zip</html>"), "not_zip"},
		{"another archive", []byte("Rar!\x1a\x07\x01\x00" + strings.Repeat("x", 100)), "not_zip"},
		{"a program in front", append([]byte("MZ...."), good...), "not_zip"},
		{"a ZIP of nothing", crafted{}.bytes(), "empty_zip"},
		{"folders only", zipped("a/", "", "b/", ""), "empty_zip"},
		{"cut off", good[:len(good)-30], "cut_off"},
		{"cut off by one byte", good[:len(good)-1], "cut_off"},
		{"cut off within the comment", bytes.TrimSuffix(with(func(c *crafted) { c.comment = "xy" }), []byte("y")), "cut_off"},
		{"something behind the end", append(bytes.Clone(good), "meer"...), "trailing_data"},
		{"an end in the comment", with(func(c *crafted) { c.comment = "xx" + string(crafted{}.bytes()) }), "two_ends"},
		{"an end in the comment that does not fit", with(func(c *crafted) { c.comment = "xxPK\x05\x06" + strings.Repeat("x", 40) }), "two_ends"},
		{"two ZIPs in one file", with(func(c *crafted) { c.items[0].before = string(zipped("a", "x")) }), "hidden_entry"},
		{"an end before the list", with(func(c *crafted) { c.gap = "...." + string(crafted{}.bytes()) }), "two_ends"},
		{"an entry that is not listed", with(func(c *crafted) { c.gap = string(put(nil, sigLocal, make([]byte, 26))) }), "hidden_entry"},
		{"bytes of nobody", with(func(c *crafted) { c.gap = strings.Repeat("P", 70_000) }), "unused_bytes"},
		{"bytes behind what was packed", message(item{name: "a", content: "x", packed: append(deflated("x"), "meer"...), method: 8}).bytes(), "unused_bytes"},
		{"part of a split ZIP", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[4] = 1 } }), "several_disks"},
		{"a list on another disk", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[6] = 1 } }), "several_disks"},
		{"entries on another disk", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[8] = 1 } }), "several_disks"},
		{"a false count", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[8], e[10] = 3, 3 } }), "directory_broken"},
		{"a count that is too small", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[8], e[10] = 1, 1 } }), "directory_broken"},
		{"a false place", with(func(c *crafted) { c.end = func(e, _, _ []byte) { e[16]++ } }), "directory_broken"},
		{"bytes behind the list", bytes.Replace(good, sigEnd, []byte("....PK\x05\x06"), 1), "directory_broken"},
		{"a place that wraps around", with(func(c *crafted) { c.wide = true; c.end = func(_, w, _ []byte) { w[47], w[55] = 0x80, 0x80 } }), "directory_broken"},
		{"64 bits announced, none there", with(func(c *crafted) { c.end = func(e, _, _ []byte) { copy(e[16:], "\xff\xff\xff\xff") } }), "zip64_lie"},
		{"64 bits that nobody announced", with(func(c *crafted) {
			c.wide = true
			c.end = func(e, w, _ []byte) { copy(e[8:20], put(nil, 2, 2, uint32(u64(w, 40)), uint32(u64(w, 48)))) }
		}), "zip64_lie"},
		{"64 bits that say something else", with(func(c *crafted) {
			c.wide = true
			c.end = func(e, _, _ []byte) { e[8], e[9], e[10], e[11] = 1, 0, 1, 0 }
		}), "zip64_lie"},
		{"a 64-bit record on another disk", with(func(c *crafted) { c.wide = true; c.end = func(_, _, l []byte) { l[4] = 1 } }), "several_disks"},
		{"a 64-bit record that tells of other disks", with(func(c *crafted) { c.wide = true; c.end = func(_, w, _ []byte) { w[16] = 1 } }), "several_disks"},
		{"a 64-bit record elsewhere", with(func(c *crafted) { c.wide = true; c.end = func(_, _, l []byte) { l[8]-- } }), "zip64_lie"},
		{"a 64-bit count without end", with(func(c *crafted) {
			c.wide = true
			c.end = func(_, w, _ []byte) { copy(w[24:40], strings.Repeat("\x7f", 16)) }
		}), "too_many_entries"},
		{"an entry of 64 bits without them", with(func(c *crafted) { c.items[1].unpacked = 0xffffffff }), "zip64_lie"},
		{"an entry that wraps around", wideEntry(1<<63, 18), "zip64_lie"},
		{"an entry of a petabyte", wideEntry(1<<50, 18), "size_lie unpacks_too_far unpacks_too_large"},
		{"too many files", many.bytes(), "too_many_entries"},
		{"a list without end", long.bytes(), "directory_long"},
		{"a bomb", message(item{name: "a.pdf", content: nul, packed: bomb, method: 8}).bytes(), "unpacks_too_far unpacks_too_far"},
		{"a bomb behind a large file", message(item{name: "a.pdf", content: nul, packed: bomb, method: 8}, item{name: "b", content: nul[:2<<20]}).bytes(), "unpacks_too_far"},
		{"a bomb that says it is small", message(item{name: "a.pdf", content: nul, packed: bomb, method: 8, unpacked: 1000}).bytes(), "size_lie"},
		{"overlapping entries", overlapping.bytes(), "overlap"},
		{"an entry reaching into the next", ranges, "overlap"},
		{"an entry behind the end", beyond, "directory_broken"},
		{"a header longer than the file", frontOf(good, func(header []byte) { header[28], header[29] = 0xff, 0xff }), "directory_broken"},
		{"another size in front", frontOf(good, func(header []byte) { header[22]++ }), "header_mismatch"},
		{"a path upwards", named("../a.txt"), "name_up"},
		{"a path upwards inside", named("a/../../b.txt"), "name_up"},
		{"a path upwards, Windows", named(`..\a.txt`), "name_up"},
		{"a root", named("/etc/passwd"), "name_absolute"},
		{"a drive", named("C:a.txt"), "name_absolute"},
		{"a share", named(`\\elders\map\a.txt`), "name_absolute"},
		{"a stream", named("a.txt:b"), "name_colon"},
		{"a device", named("CON"), "name_device"},
		{"a device with an extension", named("map/nul.txt"), "name_device"},
		{"a device with a small number", message(item{name: "lpt\u00b2.txt", content: "x", flags: flagUTF8}).bytes(), "name_device"},
		{"a name that begins as a device's", named("COM10.txt"), ""},
		{"a device with a space", named("com1 .txt"), "name_device"},
		{"a zero byte", named("a\x00.txt"), "name_impossible"},
		{"no name", named(""), "name_impossible"},
		{"a name that is too long", named(strings.Repeat("a", 2000)), "name_impossible"},
		{"a name that is no UTF-8", message(item{name: "caf\x82.txt", content: "x", flags: flagUTF8}).bytes(), "name_impossible"},
		{"a name twice", named("polis.pdf"), "name_twice"},
		{"a name twice but for case", named("POLIS.pdf"), "name_case"},
		{"a name twice but for a stop", named("polis.pdf."), "name_odd name_case"},
		{"a name of two kinds", message(item{name: "brief.txt", content: "x", extra: extraOf(extraName, put(nil, "\x01", utf8Name, "../a"))}).bytes(), "name_twofold"},
		{"a second name upwards", message(item{name: "caf\x82.txt", content: "x", extra: extraOf(extraName, put(nil, "\x01", oldName, "../é"))}).bytes(), "name_up"},
		{"another name in front", with(func(c *crafted) { c.items[1].localName = "nepje.exe" }), "header_mismatch"},
		{"backslashes", named(`map\brief.txt`), "name_backslash"},
		{"a question mark", named("brief?.txt"), "name_odd"},
		{"letters the other way round", message(item{name: "brief\u202efdp.exe", content: "x", flags: flagUTF8}).bytes(), "name_hidden"},
		{"letters that nobody sees", message(item{name: "brief\U000e0041.txt", content: "x", flags: flagUTF8}).bytes(), "name_hidden"},
		{"a link", message(item{name: "a", content: "/etc/passwd", system: 3, attrs: 0xa1ff << 16}).bytes(), "symlink"},
		{"a link of Windows", message(item{name: "a", content: "x", attrs: 0x400}).bytes(), "symlink"},
		{"a pipe", message(item{name: "a", system: 3, attrs: 0x11ff << 16}).bytes(), "special_file"},
		{"encrypted", message(item{name: "a", content: "x", flags: flagEncrypted}).bytes(), "encrypted"},
		{"encrypted with AES", message(item{name: "a", content: "x", flags: flagEncrypted, method: 99}).bytes(), "encrypted"},
		{"packed oddly", message(item{name: "a", content: "x", method: 12}).bytes(), "method"},
		{"another checksum", message(item{name: "a", content: "x", crc: 7}).bytes(), "damaged"},
		{"damaged", message(item{name: "a", content: "xyz", packed: []byte("\xff\xff\xff"), method: 8}).bytes(), "damaged"},
		{"longer than it says", message(item{name: "a", content: "xyz", deflate: true, unpacked: 2}).bytes(), "size_lie"},
		{"shorter than it says", message(item{name: "a", content: "xyz", deflate: true, unpacked: 4}).bytes(), "size_lie"},
		{"a folder with contents", message(item{name: "map/", content: "geheim"}).bytes(), "size_lie"},
		{"a document with an entity", zipped("a.xml", `<!DOCTYPE Contractdocument [<!ENTITY x "y">]><Contractdocument>&x;</Contractdocument>`), "xml_doctype xml_entity"},
		{"an attachment with an entity", message(item{name: "c.xml", content: `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`}).bytes(), "xml_entity"},
	}
})

func TestCraftedZIPs(t *testing.T) {
	for _, c := range zipCases() {
		r := inspected(t, c.zip)
		if got := codes(r.Findings, Warning); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
		worst := Note
		for _, f := range r.Findings {
			worst = max(worst, f.Severity)
		}
		if r.Sendable(false) != (worst < Refused) || r.Sendable(true) != (worst < Warning) {
			t.Errorf("%s: sendable %v, strictly %v, at worst %s", c.name, r.Sendable(false), r.Sendable(true), worst)
		}
	}
}

// TestNotes checks findings that are only notes, and their places.
func TestNotes(t *testing.T) {
	b := message(item{name: "map/"}, item{name: "caf\x82.txt", content: "x"}).bytes()
	r := inspected(t, b)
	if got := codes(r.Findings, Note); got != "name_old attachment_unnamed" || r.Findings[1].String() != "note attachment_unnamed, entry 3" {
		t.Errorf("%s: %v", got, r.Findings)
	}
	if _, files, err := InspectZIP(t.Context(), bytes.NewReader(b), int64(len(b)), Defaults); err != nil || files != 3 {
		t.Errorf("%d files, %v", files, err)
	}
	if name := nameOf(member{name: "caf\x82.txt"}, nil, 0, r); name != "café.txt" {
		t.Errorf("%q", name)
	}
}

// TestZIPAlone: a caller that only checks the ZIP gets no findings about its files.
func TestZIPAlone(t *testing.T) {
	for _, c := range zipCases() {
		r, files, err := InspectZIP(t.Context(), bytes.NewReader(c.zip), int64(len(c.zip)), Defaults)
		if err != nil || (files > 0) != r.Sendable(false) && !strings.Contains(c.want, "damaged") && !strings.Contains(c.want, "size_lie") {
			t.Errorf("%s: %d files, %v, %v", c.name, files, r.Findings, err)
		}
		for _, f := range r.Findings {
			if strings.HasPrefix(string(f.Code), "xml") || strings.HasPrefix(string(f.Code), "attachment") || f.Code == NoDocument || f.Code == OtherType {
				t.Errorf("%s: %v", c.name, f)
			}
		}
	}
}

func TestOwnLimits(t *testing.T) {
	b := message().bytes()
	for _, c := range []struct {
		limit func(l *Limits)
		want  string
	}{
		{func(l *Limits) { l.Entries = 1 }, "too_many_entries"},
		{func(l *Limits) { l.Entries = 2 }, ""},
		{func(l *Limits) { l.Unpacked = 500 }, "unpacks_too_large"},
		{func(l *Limits) { l.Directory = 50 }, "directory_long"},
		{func(l *Limits) { l.XML = 100 }, "xml_too_large"},
		{func(l *Limits) { l.Tokens = 20 }, "xml_too_many"},
		{func(l *Limits) { l.Depth = 2 }, "xml_too_deep"},
		{func(l *Limits) { l.Token = 5 }, "xml_token_too_long"},
	} {
		limits := Defaults
		c.limit(&limits)
		r, err := Inspect(t.Context(), bytes.NewReader(b), int64(len(b)), limits)
		if err != nil || codes(r.Findings, Warning) != c.want {
			t.Errorf("%s: %v, %v", c.want, r, err)
		}
	}
	limits := Defaults
	limits.XML = int64(len(example)) // and four times as much in total
	b = zipped("1.xml", example, "2.xml", example, "3.xml", example, "4.xml", example, "5.xml", example, "6.xml", example)
	r, err := Inspect(t.Context(), bytes.NewReader(b), int64(len(b)), limits)
	if got := codes(r.Findings, Note); err != nil || strings.Count(got, "several_documents") != 3 || strings.Count(got, "xml_not_read") != 1 {
		t.Errorf("%v, %s", err, got)
	}
}

// brokenDisk fails at its nth read.
type brokenDisk struct {
	*bytes.Reader
	left int
	err  error
}

func (d *brokenDisk) ReadAt(p []byte, at int64) (int, error) {
	if d.left--; d.left < 0 {
		return 0, d.err
	}
	return d.Reader.ReadAt(p, at)
}

// TestDiskThatFails: a disk error is never a verdict about the message.
func TestDiskThatFails(t *testing.T) {
	b := message().bytes()
	for _, disk := range []error{errors.New("disk"), io.EOF} {
		want := disk
		if disk == io.EOF {
			want = io.ErrUnexpectedEOF // the file has shrunk
		}
		ended := false
		for n := 0; !ended; n++ {
			r, err := Inspect(t.Context(), &brokenDisk{bytes.NewReader(b), n, disk}, int64(len(b)), Defaults)
			if err == nil {
				ended = true
				if n < 10 || !r.Sendable(true) {
					t.Errorf("%v: whole after %d readings: %v", disk, n, r)
				}
			} else if r != nil || !errors.Is(err, want) {
				t.Errorf("%v at %d: %v, %v", disk, n, r, err)
			}
		}
	}
}

// cancelling cancels the context at its nth read.
type cancelling struct {
	*bytes.Reader
	left   int
	cancel func()
}

func (c *cancelling) ReadAt(p []byte, at int64) (int, error) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.Reader.ReadAt(p, at)
}

func TestInspectEndsWithItsContext(t *testing.T) {
	b := message(item{name: "a", content: strings.Repeat("abc", 1<<20)}).bytes()
	for n := 1; n < 12; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := Inspect(ctx, &cancelling{bytes.NewReader(b), n, cancel}, int64(len(b)), Defaults)
		if r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %v, %v", n, r, err)
		}
	}
}

// TestReportKeepsTheWorst: many minor findings do not displace the reason.
func TestReportKeepsTheWorst(t *testing.T) {
	var odd []item
	for i := range 300 {
		odd = append(odd, item{name: fmt.Sprintf("%d?", i)})
	}
	r := inspected(t, message(append(odd, item{name: "../x"})...).bytes())
	if r.Sendable(false) || len(r.Findings) != maxFindings || r.Findings[maxFindings-1].Code != NameUp {
		t.Errorf("%v", r)
	}
}
