package command

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"wiebelt/internal/logfile"
	own "wiebelt/internal/native/eventlog"
	"wiebelt/internal/text"
)

// serviceName is the service's name in Windows.
const serviceName = own.RelaySource

func defaultData() string {
	data, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return `C:\ProgramData\Wiebelt\relay`
	}
	return filepath.Join(data, "Wiebelt", "relay")
}

// asService runs the service, under the service manager if that started us. There is
// no standard error then: the log goes to the data folder, and the reason for a failure
// to the application log.
func asService(e *env, do func(context.Context, *env) error) error {
	if is, err := svc.IsWindowsService(); err != nil || !is {
		return do(e.ctx, e)
	}
	e.err = applicationLog{}
	file, err := logfile.Open(filepath.Join(e.data, "log"), "info")
	if err != nil {
		return err
	}
	defer file.Close()
	e.log = slog.New(file.Handler())
	s := &service{e: e, do: do}
	return errors.Join(svc.Run(serviceName, s), s.err)
}

// applicationLog replaces the standard error that a service does not have: the one line
// that says why it failed becomes an event there.
type applicationLog struct{}

func (applicationLog) Write(line []byte) (int, error) {
	l, err := eventlog.Open(own.RelaySource)
	if err != nil {
		return 0, err
	}
	return len(line), errors.Join(l.Error(1, string(line)), l.Close())
}

type service struct {
	e   *env
	do  func(context.Context, *env) error
	err error
}

// Execute implements svc.Handler.
func (s *service) Execute(_ []string, asked <-chan svc.ChangeRequest, told chan<- svc.Status) (bool, uint32) {
	ctx, stop := context.WithCancel(s.e.ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.do(ctx, s.e) }()
	told <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for {
		select {
		case s.err = <-ended:
			if s.err != nil {
				return false, 1 // the service manager restarts us
			}
			return false, 0
		case r := <-asked:
			switch r.Cmd {
			case svc.Interrogate:
				told <- r.CurrentStatus
			case svc.Stop, svc.Shutdown:
				told <- svc.Status{State: svc.StopPending}
				stop()
			}
		}
	}
}

// restartAfter is how long the manager waits before it restarts a failed service.
const restartAfter = 10 * time.Second

// Run creates the service, to be started with the computer. It makes an existing one, such
// as the installer's, restart after a failure.
func (serviceInstallCmd) Run(e *env) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	m, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer func() { _ = m.Disconnect() }()
	s, err := m.CreateService(serviceName, exe, mgr.Config{StartType: mgr.StartAutomatic, DisplayName: "Wiebelt relay"}, "run", "--data", e.data)
	if errors.Is(err, windows.ERROR_SERVICE_EXISTS) {
		s, err = existing(m, windows.ComposeCommandLine([]string{exe, "run", "--data", e.data}))
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.SetRecoveryActions([]mgr.RecoveryAction{{Type: mgr.ServiceRestart, Delay: restartAfter}}, 0); err != nil {
		return err
	}
	// Exit with an error counts too; Wine does not know this level.
	if err := s.SetRecoveryActionsOnNonCrashFailures(true); err != nil && !errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		return err
	}
	e.printText(text.RelayServiceMade, serviceName)
	return nil
}

// existing opens the existing service and quotes its program path: otherwise another
// program beside a folder with a space in its name could be run instead.
func existing(m *mgr.Mgr, line string) (*mgr.Service, error) {
	s, err := m.OpenService(serviceName)
	if err != nil {
		return nil, err
	}
	path, err := windows.UTF16PtrFromString(line)
	if err == nil {
		err = windows.ChangeServiceConfig(s.Handle, windows.SERVICE_NO_CHANGE, windows.SERVICE_NO_CHANGE, windows.SERVICE_NO_CHANGE, path, nil, nil, nil, nil, nil, nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Run removes the service.
func (serviceRemoveCmd) Run(e *env) error {
	m, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer func() { _ = m.Disconnect() }()
	s, err := m.OpenService(serviceName)
	if err != nil {
		return err
	}
	defer s.Close()
	_, _ = s.Control(svc.Stop) // a stopped service is removed too
	if err := s.Delete(); err != nil {
		return err
	}
	e.printText(text.RelayServiceRemoved, serviceName)
	return nil
}
