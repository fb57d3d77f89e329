package main

import (
	"context"
	"fmt"
	"log/slog"

	"wiebelt/internal/instance"
	"wiebelt/internal/profile"
	"wiebelt/internal/ui/desk"
)

// Set when linking: -X main.version=… -X main.commit=….
var (
	version = "dev"
	commit  = "unknown"
)

// connect reaches the resident of this user and profile.
func connect(ctx context.Context, profileDir string, log *slog.Logger) (desk.Conn, error) {
	dirs, err := profile.Find(profileDir)
	if err != nil {
		return nil, err
	}
	cfg := instance.Config{RunDir: dirs.Run, Version: version, Build: commit, Log: log}
	conn, hello, err := instance.Connect(ctx, cfg, instance.RoleDesk)
	if err != nil {
		return nil, fmt.Errorf("connect to the resident: %w", err)
	}
	if hello.Build != commit {
		log.Warn("the resident is of another build and decides what happens", "resident", hello.Build, "desk", commit)
	}
	return conn, nil
}
