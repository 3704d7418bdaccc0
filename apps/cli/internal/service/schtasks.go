package service

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
)

// schtasks runs a service of a user of Windows as a task at each login: a service of the system
// would not run as that user.
type schtasks struct{}

func (schtasks) Name() string { return "Task Scheduler" }

// Install implements Manager.
func (schtasks) Install(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	if _, err := run(ctx, "schtasks", "/Create", "/F", "/TN", u.Name(), "/SC", "ONLOGON", "/RL", "LIMITED", "/TR", windowsLine(append([]string{u.Program}, u.Args...))); err != nil {
		return err
	}
	_, err := run(ctx, "schtasks", "/Run", "/TN", u.Name())
	return err
}

// Uninstall implements Manager.
func (s schtasks) Uninstall(ctx context.Context, id ID) error {
	status, err := s.Status(ctx, id)
	switch {
	case err != nil:
		return err
	case !status.Installed:
		return ErrNotInstalled
	case status.Running:
		if _, err := run(ctx, "schtasks", "/End", "/TN", id.Name()); err != nil {
			return err
		}
	}
	_, err = run(ctx, "schtasks", "/Delete", "/F", "/TN", id.Name())
	return err
}

// Status implements Manager.
func (schtasks) Status(ctx context.Context, id ID) (Status, error) {
	out, err := run(ctx, "schtasks", "/Query", "/FO", "CSV", "/NH", "/TN", id.Name())
	if errors.Is(err, ErrUnsupported) {
		return Status{}, err
	}
	if err != nil { // it says in the language of the system that there is none
		return Status{}, nil
	}
	row, err := csv.NewReader(strings.NewReader(out)).Read()
	if err != nil || len(row) < 3 {
		return Status{}, fmt.Errorf("schtasks printed %q", out)
	}
	return Status{Installed: true, Enabled: true, Running: row[2] == "Running", State: row[2]}, nil
}

// windowsLine quotes a command line as programs of Windows split it: see syscall.EscapeArg, which
// only Windows has.
func windowsLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		var b strings.Builder
		b.WriteByte('"')
		slashes := 0
		for _, r := range word {
			switch r {
			case '\\':
				slashes++
			case '"':
				b.WriteString(strings.Repeat(`\`, slashes+1))
				slashes = 0
			default:
				slashes = 0
			}
			b.WriteRune(r)
		}
		b.WriteString(strings.Repeat(`\`, slashes) + `"`)
		quoted[i] = b.String()
	}
	return strings.Join(quoted, " ")
}
