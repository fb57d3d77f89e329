package listener

import (
	"io"
	"log/slog"
)

func jsonLog(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }
