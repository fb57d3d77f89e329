package instance

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/testutil/must"
)

// TestOtherSession: this user's Wiebelt in another session of
// the computer holds a different lock, but owns the pipe's name.
func TestOtherSession(t *testing.T) {
	cfg := Config{RunDir: `C:\session`}
	_, name, sid, err := endpointNames(cfg)
	must.Do(t, err)
	sd := must.Get(windows.SecurityDescriptorFromString("O:" + sid + "D:P(A;;GA;;;" + sid + ")"))(t)
	attrs := &windows.SecurityAttributes{SecurityDescriptor: sd}
	attrs.Length = uint32(unsafe.Sizeof(*attrs))
	// Allow a single instance, or wine would let another program create the next.
	pipe := must.Get(windows.CreateNamedPipe(must.Get(windows.UTF16PtrFromString(name))(t), windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED,
		windows.PIPE_TYPE_BYTE, 1, 4096, 4096, 0, attrs))(t)
	other := &listener{name: name, next: pipe, stop: must.Get(windows.CreateEvent(nil, 1, 0, nil))(t)}
	served := make(chan error)
	go func() {
		err := other.connect()
		c := newConn(os.NewFile(uintptr(pipe), name))
		(&Instance{cfg: cfg}).peer(t.Context(), c, nil, nil)
		served <- errors.Join(err, c.Close())
	}()
	if _, err := Acquire(cfg); !errors.Is(err, ErrRunning) {
		t.Errorf("%v, want %v", err, ErrRunning)
		must.Do(t, windows.SetEvent(other.stop))
	}
	must.Do(t, <-served, windows.CloseHandle(other.stop))

	// Users who may not open the pipe can still see whether it exists.
	runs := func(want bool) {
		t.Helper()
		if Runs(sid, cfg) != want || Runs("S-1-5-18", cfg) || Runs(sid, Config{RunDir: `C:\none`}) {
			t.Errorf("runs: %v, want %v for this user and profile alone", Runs(sid, cfg), want)
		}
	}
	runs(false)
	l := must.Get(listen(cfg))(t)
	runs(true)
	must.Do(t, l.Close())
	runs(false)
}
