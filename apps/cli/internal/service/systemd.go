package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/atomicfile"
)

// systemd runs services as units, of the system or of a user's own manager.
type systemd struct {
	system string // folder of the units of the system
	user   string // folder of those of the user
	name   string // of the user
}

func (systemd) Name() string { return "systemd" }

func (s systemd) file(id ID) string {
	if id.System {
		return filepath.Join(s.system, id.Name()+".service")
	}
	return filepath.Join(s.user, id.Name()+".service")
}

func systemctl(ctx context.Context, id ID, args ...string) (string, error) {
	if !id.System {
		args = append([]string{"--user"}, args...)
	}
	out, err := run(ctx, "systemctl", args...)
	if err != nil && strings.Contains(err.Error(), "Failed to connect to") {
		who := "services of this user here, as in a container or behind su: log in as the user, or use --system"
		if id.System {
			who = "this system, as in a container: start the program as containers do"
		}
		err = fmt.Errorf("%w: systemd does not manage %s", ErrUnsupported, who)
	}
	return out, err
}

// Install implements Manager.
func (s systemd) Install(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	if _, err := systemctl(ctx, u.ID, "show", "--property=Version"); err != nil { // before anything is written
		return err
	}
	path := s.file(u.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("creating the folder of the unit: %w", err)
	}
	if err := atomicfile.Write(path, []byte(unitFile(u)), 0o644); err != nil {
		return fmt.Errorf("writing the unit: %w", err)
	}
	for _, args := range [][]string{{"daemon-reload"}, {"enable", u.Name() + ".service"}} {
		if _, err := systemctl(ctx, u.ID, args...); err != nil {
			return err
		}
	}
	if _, err := systemctl(ctx, u.ID, "restart", u.Name()+".service"); err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return nil
}

// Uninstall implements Manager.
func (s systemd) Uninstall(ctx context.Context, id ID) error {
	path := s.file(id)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ErrNotInstalled
	}
	if _, err := systemctl(ctx, id, "disable", "--now", id.Name()+".service"); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the unit: %w", err)
	}
	_, err := systemctl(ctx, id, "daemon-reload")
	return err
}

// Status implements Manager.
func (s systemd) Status(ctx context.Context, id ID) (Status, error) {
	out, err := systemctl(ctx, id, "show", id.Name()+".service", "--property=LoadState,ActiveState,SubState,UnitFileState,MainPID,FragmentPath,Result,NRestarts,WorkingDirectory")
	if err != nil {
		return Status{}, err
	}
	values := properties(out)
	status := Status{
		Installed: values["LoadState"] == "loaded", Enabled: values["UnitFileState"] == "enabled",
		Running: values["ActiveState"] == "active", State: values["ActiveState"] + " (" + values["SubState"] + ")", File: values["FragmentPath"],
		Folder: values["WorkingDirectory"],
	}
	if !status.Installed {
		return Status{State: values["LoadState"]}, nil
	}
	if status.PID, err = strconv.Atoi(values["MainPID"]); err != nil {
		return Status{}, fmt.Errorf("systemd says that the process is %q", values["MainPID"])
	}
	if result := values["Result"]; result != "success" && result != "" {
		status.Notes = append(status.Notes, "the last run ended with "+result+", after "+values["NRestarts"]+" restarts")
	}
	if !id.System && id.Role == Host {
		status.Notes = append(status.Notes, s.lingering(ctx)...)
	}
	return status, nil
}

// lingering says how a user service runs without its user.
func (s systemd) lingering(ctx context.Context) []string {
	out, err := run(ctx, "loginctl", "show-user", s.name, "--property=Linger", "--value")
	switch {
	case err != nil: // a user who is not logged in has no record
		return []string{"it may end when you log out: `loginctl enable-linger " + s.name + "` keeps it running"}
	case strings.TrimSpace(out) == "yes":
		return nil
	}
	return []string{"it ends when you log out, and does not start with the machine: `loginctl enable-linger " + s.name + "` keeps it running"}
}

// properties reads lines of NAME=value.
func properties(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[name] = value
		}
	}
	return values
}
