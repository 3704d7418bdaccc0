package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/channel/served"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// ServedChannel is a chat platform that is served to another program, without a host.
type ServedChannel struct {
	Home, Version string
	Kind          string            // of the platform
	Settings      map[string]string // those that are not secret
	Allow         []string          // ids of the senders that are heard
	Getenv        func(string) string
}

// ServeChannel serves a chat platform as a channel server of MCP on standard input and output,
// until ctx or the input ends. Secrets are variables, such as SCOREL_CHANNEL_TOKEN.
func ServeChannel(ctx context.Context, s ServedChannel) (err error) {
	kind, err := platforms.Find(s.Kind)
	if err != nil {
		return state.Misconfigured(err)
	}
	settings := map[string]string{}
	for name, value := range s.Settings {
		settings[name] = value
	}
	for _, setting := range kind.Settings {
		const prefix = "SCOREL_CHANNEL_"
		variable := prefix + strings.ToUpper(strings.ReplaceAll(setting.Name, "-", "_"))
		// Shells cannot set a variable with a hyphen, which earlier versions read.
		if value := cmp.Or(s.Getenv(variable), s.Getenv(prefix+strings.ToUpper(setting.Name))); setting.Secret && value != "" {
			settings[setting.Name] = value
		}
		if setting.Secret && !setting.Optional && settings[setting.Name] == "" {
			return state.Misconfigured(fmt.Errorf("%s needs the %s: set the variable %s to it", kind.Title, setting.Usage, variable))
		}
	}
	platform, err := kind.Open(settings, nil)
	if err != nil {
		return state.Misconfigured(err)
	}
	folder := state.Paths{Home: s.Home}.Served()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("host: making a folder for served channels: %w", err)
	}
	lock, err := state.Acquire(filepath.Join(folder, kind.Name+".lock")) // two would overwrite each other's position
	if errors.Is(err, state.ErrLocked) {
		return state.Misconfigured(fmt.Errorf("another process already serves %s with this home: stop it first, or set SCOREL_HOME to another folder for a second bot", kind.Title))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return served.Run(ctx, &mcp.StdioTransport{}, served.Options{
		Platform: platform, Name: kind.Name, Version: s.Version, Allow: s.Allow, State: filepath.Join(folder, kind.Name+".json"),
	})
}
