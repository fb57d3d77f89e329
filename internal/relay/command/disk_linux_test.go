package command

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// until waits for a state.
func (p *process) until(what string, ok func(server.Status) bool) {
	p.t.Helper()
	must.Soon(p.t, func() (bool, any) {
		s := p.status()
		return ok(s), fmt.Sprintf("not yet %s: %+v", what, s)
	})
}

// fill fills the disk of a folder with one file.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f := must.Get(os.Create(filepath.Join(dir, "filler")))(t)
	defer f.Close()
	for _, size := range []int{1 << 16, 1} {
		err := error(nil)
		for b := make([]byte, size); err == nil; {
			_, err = f.Write(b)
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	return f.Name()
}

// TestFullDiskOfOne: if the disk of one of several relays was full, that relay ends once
// there is space, and works fully after a restart, so that another one may fail.
func TestFullDiskOfOne(t *testing.T) {
	if !alone(t, unix.CLONE_NEWNS) {
		return
	}
	s := newSite(t, 1, here)
	p := s.relays[2]
	p.kill()
	aside := filepath.Join(t.TempDir(), "aside")
	must.Do(t, os.Rename(p.dir, aside), os.Mkdir(p.dir, 0o700), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", p.dir, "tmpfs", 0, "size=32m,mode=700"))
	t.Cleanup(func() { _ = unix.Unmount(p.dir, unix.MNT_DETACH) })
	if out, err := exec.Command("cp", "-a", aside+"/.", p.dir).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	p.start()
	filler := fill(t, p.dir)
	p.until("the disk is full", func(s server.Status) bool { return s.Fault == "disk" })
	d := s.relays[0].directory()
	for i := range 20 {
		must.Do(t, d.Put(t.Context(), users.Entry{User: userNo(100 + i)})) // which it cannot write
	}
	known := must.Get(d.List(t.Context()))(t)
	must.Do(t, os.Remove(filler))
	_ = p.Wait()
	p.start()
	p.until("all is well", func(s server.Status) bool { return s.Fault == "" && s.Users == len(known) })
	s.relays[0].kill()
	d = s.relays[1].directory()
	s.tries(func() error { return d.Put(t.Context(), users.Entry{User: "carla"}) })
}

// TestFullDisk: a relay whose disk is full reports that, also to its users, while calls
// still ring; once there is space, it recovers by itself, and nothing is lost, even if a
// power failure damages its server's files.
func TestFullDisk(t *testing.T) {
	if !alone(t, unix.CLONE_NEWNS) { // with a small disk for its temporary files
		return
	}
	dir := filepath.Dir(t.TempDir()) // the parent of later ones
	must.Do(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	p := newProcess(t)
	p.folder.Settings.Journal.Days = 2
	must.Do(t, p.folder.WriteSettings(p.folder.Settings))
	p.start()
	s := &site{t: t, relays: []*process{p, p, p}}
	d := p.directory()
	desk := s.desk(0, invite(t, d, users.Entry{User: userNo(0), Extensions: []string{"1000"}}))
	p.until("connected", func(s server.Status) bool { return s.Connected > 1 })
	filler := fill(t, dir)
	must.Do(t, d.Put(t.Context(), users.Entry{User: "carla"}))
	p.until("the disk is full", func(s server.Status) bool { return s.Fault == "disk" })
	if a, err := http.Get(p.at.Admin + "/healthz"); err != nil || a.Body.Close() != nil || a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("healthy: %v, %v", a, err)
	}
	desk.until("the user knows", func() bool { return desk.states[len(desk.states)-1].Cause == link.CauseStorage })
	must.Do(t, p.report(p.secret(), fmt.Sprintf(`{"id":"%s.1","state":"ringing","number":"0698760011","extension":"1000"}`, userNo(0))))
	desk.until("a call rings", func() bool { return len(desk.shown) == 1 })
	must.Do(t, os.Remove(filler))
	p.until("there is room", func(s server.Status) bool { return s.Fault == "" && s.Connected > 1 })
	p.kill()
	blocks, err := filepath.Glob(filepath.Join(p.dir, "jetstream", "jetstream", "*", "streams", "KV_users", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	for _, file := range blocks {
		b, err := os.ReadFile(file)
		for i := range b {
			b[i] ^= 0x5a
		}
		must.Do(t, err, os.WriteFile(file, b, 0o600))
	}
	p.start()
	if all, err := p.directory().List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("its files damaged: %d users, %v", len(all), err)
	}
}
