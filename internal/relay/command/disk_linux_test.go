package command

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/link"
)

// ownDisk marks the test program that has a small disk for its temporary files.
const ownDisk = "WIEBELT_RELAY_DISK"

// until waits for a state and tells how long that took.
func (p *process) until(what string, ok func(server.Status) bool) time.Duration {
	p.t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s := p.status()
		if ok(s) {
			took := time.Since(began)
			p.t.Logf("%s: after %v", what, took.Round(10*time.Millisecond))
			return took
		}
		if time.Since(began) > time.Minute {
			p.t.Fatalf("%s: %+v", what, s)
		}
	}
}

// until waits for what must come at a user's.
func (d *station) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		d.mu.Lock()
		is := ok()
		d.mu.Unlock()
		if is {
			t.Logf("%s: after %v", what, time.Since(began).Round(10*time.Millisecond))
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestFullDisk: a relay whose disk is full says so, to its users too, while calls ring;
// once there is room all is well by itself, and nothing is lost, not even where the
// files of its server are damaged by a power cut.
func TestFullDisk(t *testing.T) {
	if os.Getenv(ownDisk) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), ownDisk+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	dir := filepath.Dir(t.TempDir()) // in which the next ones will be
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	p := newProcess(t)
	p.folder.Settings.Journal.Days = 2
	if err := p.folder.Set(p.folder.Settings); err != nil {
		t.Fatal(err)
	}
	p.start()
	s := &site{t: t, relays: []*process{p, p, p}}
	d := p.directory()
	if err := d.Put(t.Context(), users.Entry{User: userNo(0), Extensions: []string{"1000"}}); err != nil {
		t.Fatal(err)
	}
	code, err := d.Invite(t.Context(), userNo(0))
	if err != nil {
		t.Fatal(err)
	}
	desk := s.desk(0, code)
	p.until("connected", func(s server.Status) bool { return s.Connected > 1 })
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1 << 16, 1} {
		for b := make([]byte, size); !errors.Is(err, unix.ENOSPC) || size == 1 && err == nil; {
			_, err = f.Write(b)
		}
		if size > 1 {
			err = nil
		}
	}
	_ = f.Close()
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), users.Entry{User: "carla"}); err != nil {
		t.Error(err)
	}
	p.until("the disk is full", func(s server.Status) bool { return s.Fault == "disk" })
	if a, err := http.Get(p.at.Admin + "/healthz"); err != nil || a.Body.Close() != nil || a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("healthy: %v, %v", a, err)
	}
	desk.until(t, "the user knows", func() bool { return desk.states[len(desk.states)-1].Cause == link.CauseStorage })
	if err := p.report(p.secret(), fmt.Sprintf(`{"id":"%s.1","state":"ringing","number":"0698760011","extension":"1000"}`, userNo(0))); err != nil {
		t.Error(err)
	}
	desk.until(t, "a call rings", func() bool { return len(desk.shown) == 1 })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
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
		if err = errors.Join(err, os.WriteFile(file, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p.start()
	if all, err := p.directory().List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("its files damaged: %d users, %v", len(all), err)
	}
}
