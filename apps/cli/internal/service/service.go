// Package service registers scorel with what starts programs on a machine: systemd on Linux,
// launchd on macOS, the Task Scheduler and the service control manager on Windows.
//
// A user service runs as the user who installs it. A system service starts with the machine: a
// host as a named user, a relay as a user of its own without a home.
package service

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Role is what a service runs.
type Role string

// Roles. Their names are part of the names of services and never change.
const (
	Host  Role = "host"
	Relay Role = "relay"
)

// ErrNotInstalled means that there is no such service.
var ErrNotInstalled = errors.New("the service is not installed")

// ErrNotStarted means that the service is installed, but that its program failed or was not ready
// in time. It is tried again.
var ErrNotStarted = errors.New("the service did not start")

// ErrUnsupported means that this system cannot have the service.
var ErrUnsupported = errors.New("not supported here")

// ID names a service.
type ID struct {
	Role   Role
	System bool
}

// Name is the name of the service on every system but macOS.
func (id ID) Name() string { return "scorel-" + string(id.Role) }

// Unit is a service to install. No text of it may have a line break.
type Unit struct {
	ID
	Program string   // absolute
	Args    []string // of the program
	Folder  string   // in which it starts; "" is the system's choice
	User    string   // of a host that is a system service
	Path    string   // PATH of what a host runs
}

// check refuses what no file of a service can express.
func (u Unit) check() error {
	for _, text := range append([]string{u.Program, u.Folder, u.User, u.Path}, u.Args...) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fmt.Errorf("%q has a line break, which a service cannot have in its command line", text)
		}
	}
	return nil
}

// Status describes a service.
type Status struct {
	Installed bool
	Enabled   bool // starts by itself
	Running   bool
	PID       int    // 0 if it does not run, or is not known
	State     string // as the system names it
	File      string // that describes the service; "" if none does
	Folder    string // in which it runs, the home of a host; "" if it has none, or the manager does not say
	// Notes are what a person should know or do, one sentence each.
	Notes []string
}

// Manager installs services. Its methods are not safe for concurrent use.
type Manager interface {
	// Name is the name of the system's part, for people.
	Name() string
	// Install writes the service, replaces one of the same id, and starts it, also at the next
	// start of the machine or the next login. With systemd it returns when the service is ready;
	// otherwise the error is ErrNotStarted.
	Install(ctx context.Context, u Unit) error
	// Uninstall stops and removes the service. The error is ErrNotInstalled if there is none.
	Uninstall(ctx context.Context, id ID) error
	// Status describes a service, also one that is not installed.
	Status(ctx context.Context, id ID) (Status, error)
}

// commandTimeout bounds one command of the system.
const commandTimeout = time.Minute

// run runs a command of the system and returns what it printed. The error has what it complained of.
func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: there is no %s on this machine: have its own service manager run `scorel host serve` or `scorel relay serve`", ErrUnsupported, name)
	}
	said := strings.Join(strings.Fields(complaint.String()), " ")
	if said == "" {
		return string(out), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), said)
}
