package service

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"
)

// schtasks runs a service of a user of Windows as a task at each login: a service of the system
// would not run as that user.
type schtasks struct {
	sid string // of the user
}

func (schtasks) Name() string { return "Task Scheduler" }

// Install implements Manager.
func (s schtasks) Install(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	if err := s.create(ctx, u); err != nil {
		return err
	}
	_, err := run(ctx, "schtasks", "/Run", "/TN", u.Name())
	return err
}

// create registers the task with a file, because schtasks takes at most 261 characters of a command
// line as an argument.
func (s schtasks) create(ctx context.Context, u Unit) (err error) {
	file, err := os.CreateTemp("", "scorel-task-*.xml")
	if err != nil {
		return fmt.Errorf("writing the task: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(utf16LE(s.definition(u)))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the task: %w", err)
	}
	_, err = run(ctx, "schtasks", "/Create", "/F", "/TN", u.Name(), "/XML", file.Name())
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
	out, err := run(ctx, "schtasks", "/Query", "/V", "/FO", "CSV", "/NH", "/TN", id.Name())
	if errors.Is(err, ErrUnsupported) {
		return Status{}, err
	}
	if err != nil { // it says in the language of the system that there is none
		return Status{}, nil
	}
	row, err := csv.NewReader(strings.NewReader(out)).Read()
	if err != nil || len(row) <= taskResult {
		return Status{}, fmt.Errorf("schtasks printed %q", out)
	}
	return Status{Installed: true, Enabled: true, Running: row[taskResult] == taskRunning, State: strings.ToValidUTF8(row[taskState], "?")}, nil
}

// Columns of a task, and the result of one that runs (SCHED_S_TASK_RUNNING). The state is in the
// language of the system.
const (
	taskState   = 3
	taskResult  = 6
	taskRunning = "267009"
)

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
