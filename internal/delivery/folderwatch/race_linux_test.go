package folderwatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

// box is an outbox in memory that counts what it delivers.
type box struct {
	items     []outbox.Item
	delivered map[string]int // by contents
	contents  []string
	hold      bool  // deliver nothing for now
	again     error // returned for content added before
	broken    error // returned by Get
	moved     []string
}

func (b *box) Add(ctx context.Context, s outbox.Source) (outbox.Added, error) {
	var buf bytes.Buffer
	if err := s.Write(ctx, &buf); err != nil {
		return outbox.Added{}, err
	}
	sum := sha256.Sum256(buf.Bytes())
	it := outbox.Item{Path: s.Path, SHA256: hex.EncodeToString(sum[:]), Size: int64(buf.Len())}
	if _, err := outbox.Inspect(false)(ctx, bytes.NewReader(buf.Bytes()), it.Size); err != nil {
		return outbox.Added{Item: it}, err
	}
	for _, old := range b.items {
		if old.SHA256 == it.SHA256 {
			return outbox.Added{Item: old, Duplicate: true}, b.again
		}
	}
	it.ID, it.State = fmt.Sprint(len(b.items)), outbox.Waiting
	b.items, b.contents = append(b.items, it), append(b.contents, buf.String())
	return outbox.Added{Item: it}, nil
}

func (b *box) Get(_ context.Context, id string) (outbox.Item, error) {
	if b.broken != nil {
		return outbox.Item{}, b.broken
	}
	for i := range b.items {
		it := &b.items[i]
		if it.ID == id {
			if it.State == outbox.Waiting && !b.hold {
				it.State = outbox.Delivered
				b.delivered[b.contents[i]]++
			}
			return *it, nil
		}
	}
	return outbox.Item{}, outbox.ErrNoItem
}

func (b *box) Moved(_ context.Context, id string) error {
	b.moved = append(b.moved, id)
	return nil
}

// words is a Reporter that records what it gets.
type words struct {
	moved   []Result
	trouble []error
}

func (*words) Note(_ context.Context, r Result) string {
	if r.Err != nil {
		return "why"
	}
	return ""
}
func (w *words) Moved(r Result)            { w.moved = append(w.moved, r) }
func (w *words) Trouble(_ File, err error) { w.trouble = append(w.trouble, err) }

const settle = 5 * time.Second

// stage is a watched folder, with private files beside it.
type stage struct {
	t                    testing.TB
	root, dir, private   string
	box                  *box
	words                *words
	now                  time.Time
	step                 func(string)
	folder               *Folder
	a, b, secret, broken []byte
}

func newStage(t testing.TB, root string) *stage {
	s := &stage{t: t, root: root, dir: filepath.Join(root, "in"), private: filepath.Join(root, "private"), box: &box{delivered: map[string]int{}}, words: &words{},
		now: time.Now(), a: messagetest.ZIP(t, "a.xml", root+"a"), b: messagetest.ZIP(t, "b.xml", root+"b"), secret: messagetest.ZIP(t, "s.xml", root+"secret"), broken: []byte("no zip " + root)}
	for _, dir := range []string{s.dir, s.private} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	must.Do(t, os.Chmod(s.dir, 0o770))
	s.put(filepath.Join(s.private, "secret.zip"), s.secret)
	s.put(filepath.Join(s.private, "settings.toml"), []byte("settings"))
	t.Cleanup(s.close)
	return s
}

func (s *stage) put(path string, b []byte) {
	s.t.Helper()
	must.Do(s.t, os.WriteFile(path, b, 0o600))
}

func (s *stage) close() {
	if s.folder != nil {
		s.folder.Close()
		s.folder = nil
	}
}

func (s *stage) open() error {
	f, err := Open(Options{Dir: s.dir, Outbox: s.box, Settle: settle, Reporter: s.words, Now: func() time.Time { return s.now }, step: func(at string) {
		if s.step != nil {
			s.step(at)
		}
	}})
	if err == nil {
		s.folder = f
	}
	return err
}

// look checks once, some time after the last check, and opens the folder if necessary.
func (s *stage) look() {
	if s.folder == nil && s.open() != nil {
		return
	}
	s.now = s.now.Add(settle + time.Second)
	if err := s.folder.Scan(context.Background()); errors.Is(err, ErrReplaced) {
		s.close()
	} else {
		must.Do(s.t, err)
	}
}

func (s *stage) looks(times int) {
	for range times {
		s.look()
	}
}

// files returns the contents of all files below the folder, with the places of each.
func (s *stage) files() map[string][]string {
	all := map[string][]string{}
	must.Do(s.t, filepath.WalkDir(s.root, func(path string, e fs.DirEntry, err error) error {
		if path == s.private {
			return fs.SkipDir
		}
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(path, ".txt") { // our notes
			return err
		}
		b, err := os.ReadFile(path)
		all[string(b)] = append(all[string(b)], path)
		return err
	}))
	return all
}

// races lists what others may do in the folder while we work.
var races = []struct {
	name string
	do   func(s *stage, at string) error
}{
	{"link to a private file", func(s *stage, at string) error {
		return errors.Join(os.Rename(at, at+".old"), os.Symlink(filepath.Join(s.private, "secret.zip"), at))
	}},
	{"relative link", func(_ *stage, at string) error {
		return errors.Join(os.Rename(at, at+".old"), os.Symlink("../private/secret.zip", at))
	}},
	{"link to a file of the folder", func(_ *stage, at string) error {
		return errors.Join(os.Rename(at, at+".old"), os.Symlink(filepath.Base(at)+".old", at))
	}},
	{"second name of a private file", func(s *stage, at string) error {
		return errors.Join(os.Rename(at, at+".old"), os.Link(filepath.Join(s.private, "secret.zip"), at))
	}},
	{"link in the place of another file", func(s *stage, at string) error {
		link := at + ".link"
		return errors.Join(os.Symlink(filepath.Join(s.private, "secret.zip"), link), os.Rename(link, at))
	}},
	{"replaced", func(s *stage, at string) error {
		s.put(at+".new", s.b)
		return os.Rename(at+".new", at)
	}},
	{"removed and made anew", func(s *stage, at string) error { return errors.Join(os.Remove(at), os.WriteFile(at, s.b, 0o600)) }},
	{"emptied", func(_ *stage, at string) error { return os.Truncate(at, 0) }},
	{"cut", func(s *stage, at string) error { return os.Truncate(at, 5) }},
	{"grown", func(_ *stage, at string) error { return into(at, os.O_APPEND, []byte("more")) }},
	{"written over", func(s *stage, at string) error { return into(at, 0, s.b) }},
	{"renamed", func(_ *stage, at string) error { return os.Rename(at, filepath.Join(filepath.Dir(at), "other.zip")) }},
	{"pipe", func(_ *stage, at string) error {
		return errors.Join(os.Rename(at, at+".old"), syscall.Mkfifo(at, 0o600))
	}},
	{"folder", func(_ *stage, at string) error { return errors.Join(os.Rename(at, at+".old"), os.Mkdir(at, 0o700)) }},
	{"changed places", func(s *stage, at string) error {
		other := filepath.Join(s.dir, "second.zip")
		s.put(other, s.b)
		return errors.Join(os.Rename(at, at+".tmp"), os.Rename(other, at), os.Rename(at+".tmp", other))
	}},
	{"sent is a link", func(s *stage, _ string) error {
		sent := filepath.Join(s.dir, Sent)
		return errors.Join(os.Rename(sent, sent+".old"), os.Symlink(s.private, sent))
	}},
	{"refused is a link", func(s *stage, _ string) error {
		refused := filepath.Join(s.dir, Refused)
		return errors.Join(os.Rename(refused, refused+".old"), os.Symlink(s.private, refused))
	}},
	{"sent is another's", func(s *stage, _ string) error {
		sent := filepath.Join(s.dir, Sent)
		return errors.Join(os.Rename(sent, sent+".old"), os.Mkdir(sent, 0o777), os.Chown(sent, 65534, 65534))
	}},
	{"names in sent and refused are taken", func(s *stage, at string) error {
		var err error
		for _, dir := range []string{Sent, Refused} {
			for _, name := range []string{filepath.Base(at), filepath.Base(at) + ".txt"} {
				if e := os.Symlink(filepath.Join(s.private, "settings.toml"), filepath.Join(s.dir, dir, name)); !errors.Is(e, fs.ErrExist) {
					err = errors.Join(err, e)
				}
			}
		}
		return err
	}},
	{"the folder is a link", func(s *stage, _ string) error {
		return errors.Join(os.Rename(s.dir, s.dir+".old"), os.Symlink(s.private, s.dir), os.Lchown(s.dir, 65534, 65534))
	}},
}

// into writes into an existing file.
func into(at string, flag int, b []byte) error {
	f, err := os.OpenFile(at, os.O_WRONLY|flag, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// TestRaces lets others act before each of our steps, in every way: no file from outside is
// sent, none is overwritten, and none is lost.
func TestRaces(t *testing.T) {
	root := t.TempDir()
	count, runs := 0, 0
	for _, good := range []bool{true, false} {
		for _, race := range races {
			for n := 0; ; n++ {
				runs++
				if !oneRace(t, filepath.Join(root, fmt.Sprint(runs)), good, race.name, race.do, n) {
					break
				}
				count++
			}
		}
	}
	if t.Logf("%d races", count); count < 200 {
		t.Errorf("only %d races", count)
	}
}

// oneRace runs do before step n and returns false if that step never occurred.
func oneRace(t *testing.T, root string, good bool, name string, do func(*stage, string) error, n int) bool {
	s := newStage(t, root)
	defer s.close()
	at := filepath.Join(s.dir, "a.zip")
	first := s.broken
	if good {
		first = s.a
	}
	s.put(at, first)
	step, where := 0, ""
	var after map[string][]string
	s.step = func(what string) {
		if step++; step != n+1 {
			return
		}
		if _, err := os.Lstat(at); err == nil { // else it has been moved
			where = what
			if err := do(s, at); err != nil {
				t.Fatalf("%s before %s: %v", name, what, err)
			}
		}
		after = s.files()
	}
	s.looks(4)
	if after == nil {
		return false
	}
	s.looks(6) // and whatever is there now
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s before step %d (%s), good %v: %s", name, n, where, good, fmt.Sprintf(format, args...))
	}
	if s.box.delivered[string(s.secret)] > 0 {
		fault("a file from outside was sent")
	}
	for file, want := range map[string][]byte{"secret.zip": s.secret, "settings.toml": []byte("settings")} {
		if b, err := os.ReadFile(filepath.Join(s.private, file)); err != nil || !bytes.Equal(b, want) {
			fault("%s was written over: %v", file, err)
		}
	}
	if left, err := os.ReadDir(s.private); err != nil || len(left) != 2 {
		fault("something was put among the private files: %v %v", left, err)
	}
	now := s.files()
	for content := range after {
		if now[content] == nil {
			fault("lost: %s", after[content])
		}
	}
	for content, paths := range now {
		for _, path := range paths {
			if strings.Contains(filepath.Dir(path), Sent) && strings.HasSuffix(path, ".zip") && s.box.delivered[content] == 0 {
				fault("in sent and never delivered: %s", path)
			}
		}
	}
	for content, times := range s.box.delivered {
		if times > 1 {
			fault("delivered %d times: %q", times, content)
		}
	}
	return true
}

// TestStorm is TestRaces with others interfering all the
// time, even between the steps of the functions we call.
func TestStorm(t *testing.T) {
	s := newStage(t, t.TempDir())
	must.Do(t, s.open())
	at := filepath.Join(s.dir, "a.zip")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		keep := filepath.Join(s.dir, "keep.tmp")
		for ctx.Err() == nil { // errors concern names that we have moved
			if os.WriteFile(keep, s.a, 0o600) == nil {
				_ = os.Rename(keep, at)
			}
			_ = os.Symlink(filepath.Join(s.private, "secret.zip"), keep)
			_ = os.Rename(keep, at)
		}
	}()
	for range 2000 {
		// Pretend that it has been the same file, by size and time, for long enough.
		if x := s.folder.files["a.zip"]; x != nil {
			x.since = s.now.Add(-time.Hour)
		}
		must.Do(t, s.folder.Scan(ctx))
	}
	stop()
	<-done
	for content := range s.box.delivered {
		if content != string(s.a) {
			t.Fatalf("sent: %q", content)
		}
	}
}

func groupOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Gid }
