package terminal

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// ErrNoDisplay reports that there is no screen to open a browser on.
var ErrNoDisplay = errors.New("there is no display to open a browser on")

// OpenBrowser opens url in the person's browser with the given environment. It does not
// wait for the browser to exit.
func OpenBrowser(ctx context.Context, url string, getenv func(string) string, environment []string) error {
	name, args, err := opener(runtime.GOOS, getenv)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, name, append(args, url)...)
	cmd.Env = environment
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("opening a browser with %s: %w", name, err)
	}
	return nil
}

// opener returns the command that passes a URL to the desktop and exits.
func opener(goos string, getenv func(string) string) (name string, args []string, err error) {
	switch goos {
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}, nil
	case "darwin":
		return "open", nil, nil
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return "", nil, ErrNoDisplay
	}
	return "xdg-open", nil, nil
}
