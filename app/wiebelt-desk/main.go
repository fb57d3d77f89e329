// Command wiebelt-desk is the windows that people open now and then. The
// resident starts it when somebody asks for one; it ends with its last window.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"log/slog"
	"os"

	"fyne.io/fyne/v2"

	"wiebelt/assets"
	"wiebelt/internal/ui/desk"
	"wiebelt/internal/ui/driver"
	"wiebelt/internal/ui/theme"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("wiebelt-desk", flag.ContinueOnError)
	flags.SetOutput(stderr)
	profile := flags.String("profile", "", "keep every file of this run under `DIR`")
	window := flags.String("window", "", "the `NAME` of the window to open first, such as calls")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "wiebelt-desk: unexpected argument %q\n", flags.Arg(0))
		return 2
	case *window != "" && !desk.Known(*window):
		fmt.Fprintf(stderr, "wiebelt-desk: unknown window %q\n", *window)
		return 2
	}

	// Interrupt and terminate end it through Fyne.
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	err := desk.Run(context.Background(), desk.Config{
		App: newApp,
		Connect: func(ctx context.Context) (desk.Conn, error) {
			return connect(ctx, *profile, logger)
		},
		Window: *window,
		Log:    logger,
	})
	if err != nil {
		fmt.Fprintf(stderr, "wiebelt-desk: %v\n", err)
		return 1
	}
	return 0
}

// newApp makes the application that shows the windows.
func newApp() (fyne.App, error) {
	var icons []*image.NRGBA
	for _, size := range []int{16, 32, 48, 128} {
		b, err := assets.Icons.ReadFile(fmt.Sprintf("icons/app-%d.png", size))
		if err != nil {
			continue // embedded: only a broken build gets here
		}
		if i, err := png.Decode(bytes.NewReader(b)); err == nil {
			to := image.NewNRGBA(i.Bounds())
			draw.Draw(to, to.Rect, i, i.Bounds().Min, draw.Src)
			icons = append(icons, to)
		}
	}
	return driver.New(driver.Options{ID: "nl.wiebelt.companion", Name: "Wiebelt", Icons: icons, Theme: theme.New("")})
}
