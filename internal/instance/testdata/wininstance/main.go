// Command wininstance runs under Wine in a test: a resident that prints what it receives, a
// phone's program, and what they need of Windows.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
)

func config() instance.Config {
	dir := os.Args[2]
	return instance.Config{RunDir: dir, Version: "1", Build: "b"}
}

type handler struct{ out io.Writer }

func (e handler) Ring(ev call.Event) error {
	fmt.Fprintln(e.out, "heard", ev.Number)
	return nil
}

func (e handler) Peer(ctx context.Context, hello instance.Hello, c *instance.Conn) {
	fmt.Fprintln(e.out, "peer", hello.Role)
	for {
		kind, raw, err := c.Receive()
		if err != nil {
			fmt.Fprintln(e.out, "peer gone", err == io.EOF, errors.Is(err, os.ErrClosed))
			return
		}
		_ = c.Send(kind, raw)
	}
}

func main() {
	var err error
	switch os.Args[1] {
	case "resident":
		err = resident(os.Stdout)
	case "started":
		var f *os.File
		if f, err = os.OpenFile(filepath.Join(os.Args[2], "heard"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			err = resident(f)
		}
	case "ring":
		err = ring(func() error {
			return instance.StartDetached(nil, os.Args[0], "started", os.Args[2])
		})
	case "ring-no-start":
		err = ring(nil)
	case "desk":
		err = desk()
	case "quit":
		err = instance.MarkQuit(config())
	case "end":
		err = end()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func resident(out io.Writer) error {
	cfg := config()
	cfg.Log = slog.New(slog.NewTextHandler(out, nil))
	i, err := instance.Acquire(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	fmt.Fprintln(out, "started", os.Getpid())
	if os.Args[1] == "resident" {
		go func() {
			for s := bufio.NewScanner(os.Stdin); s.Scan(); {
				cancel()
			}
		}()
	} else {
		go func() { // ended by a file, since it has no pipe or console
			for ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(os.Args[2], "end")); err == nil {
					cancel()
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
	}
	err = i.Serve(ctx, handler{out})
	_ = i.Close()
	fmt.Fprintln(out, "ended", err)
	return nil
}

func end() error { return os.WriteFile(filepath.Join(os.Args[2], "end"), nil, 0o600) }

func ring(start func() error) error {
	e := call.Event{Source: call.Source{Kind: call.KindCommand}, Number: os.Args[3], At: time.Now()}
	return instance.HandOver(context.Background(), config(), e, start)
}

func desk() error {
	c, hello, err := instance.Connect(context.Background(), config(), instance.RoleWindows)
	if err != nil {
		return err
	}
	began := time.Now()
	for n := range 200 {
		if err := c.Send("echo", map[string]any{"n": n, "long": string(make([]byte, 5000))}); err != nil {
			return err
		}
		if _, raw, err := c.Receive(); err != nil || len(raw) < 5000 {
			return fmt.Errorf("%d bytes: %w", len(raw), err)
		}
	}
	fmt.Println("echo", hello.Role, time.Since(began)/200)
	// Closing ends a waiting Receive.
	ended := make(chan error)
	go func() { _, _, err := c.Receive(); ended <- err }()
	time.Sleep(50 * time.Millisecond)
	_ = c.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("after closing: %w", err)
	}
	return nil
}
