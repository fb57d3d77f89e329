// Command wiebelt-desk is the windows that people open now and then. The
// resident starts it when somebody asks for one; it ends with its last window.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"wiebelt/assets"
	"wiebelt/internal/ui/desk"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("wiebelt-desk", flag.ContinueOnError)
	flags.SetOutput(stderr)
	profile := flags.String("profile", "", "keep every file of this run under `DIR`")
	window := flags.String("window", "", "the `NAME` of the window to open first, such as calls")
	check := flags.Bool("check-gl", false, "only try whether a window can be made: exit 0, or 3 where OpenGL is missing")
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
	case *check:
		return checkGL(stderr)
	}

	// Interrupt and terminate end it through Fyne.
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	// Fyne reports through package log, and ends the process itself where a
	// window cannot be made.
	log.SetFlags(0)
	log.SetOutput(&toolkit{to: stderr})
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

// newApp makes the Fyne app. With an id from the start it would keep preferences
// in the user's configuration folder, outside of any profile; we have none. The
// id is for the desktop, which groups windows by it.
func newApp() fyne.App {
	a := app.NewWithID("")
	app.SetMetadata(fyne.AppMetadata{ID: "nl.wiebelt.companion", Name: "Wiebelt"})
	if icon, err := assets.Icons.ReadFile("icons/app-128.png"); err == nil {
		a.SetIcon(fyne.NewStaticResource("app-128.png", icon))
	}
	return a
}
