package procgroup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// markName is an environment variable of every recorded command: the name of its note. Its
// children inherit it unless they remove it deliberately.
const markName = "SCOREL_COMMAND_ID"

// Ledger records which commands are running, one file each, from before a command starts
// until it has ended with its children. A nil Ledger records nothing. Only one process may
// use the folder at a time.
type Ledger struct {
	dir   string
	world string // identifies the process namespace and boot in which process ids are valid
}

// note is the content of a file: a line from before the start, and one from after it.
type note struct {
	Owner
	World string `json:"world"`
	// Leader is the command's own process, whose id is also that of its session; 0 until it
	// has started. Began is its start time, in clock ticks since boot.
	Leader int    `json:"leader,omitempty"`
	Began  uint64 `json:"began,omitempty"`
}

// OpenLedger returns the ledger in a folder, which it creates if necessary.
func OpenLedger(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("procgroup: creating the folder of notes: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading the boot id: %w", err)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading the process namespace: %w", err)
	}
	return &Ledger{dir, string(bytes.TrimSpace(boot)) + " " + space}, nil
}

// Start starts the command in its own session, as Own does. The command is recorded until
// forget is called, which must be after Wait and Kill. If the command was killed by a
// signal, forget also ends the processes that bear its mark, because the killed process may
// have been its supervisor.
func (l *Ledger) Start(cmd *exec.Cmd, owner Owner) (forget func(), err error) {
	Own(cmd)
	if l == nil {
		return func() {}, cmd.Start()
	}
	name := rand.Text()
	path := filepath.Join(l.dir, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("procgroup: recording a command: %w", err)
	}
	defer func() {
		_ = file.Close() // no sync: the note must outlive the process, not the machine
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	n := note{Owner: owner, World: l.world}
	if err := n.write(file); err != nil {
		return nil, err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, markName+"="+name)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if p, ok := look(cmd.Process.Pid); ok {
		n.Leader, n.Began = p.pid, p.began
		_ = n.write(file) // if this fails, the mark in the environment identifies the processes
	}
	return func() {
		if cmd.ProcessState == nil || !cmd.ProcessState.Exited() {
			_, _ = l.end(n, name) // what does not end in time cannot be ended
		}
		_ = os.Remove(path)
	}, nil
}

// end ends the remaining processes of a recorded command.
func (l *Ledger) end(n note, name string) (ended int, err error) {
	own, err := unix.Getsid(0)
	if err != nil {
		return 0, fmt.Errorf("procgroup: reading this process's session: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	return remains{note: n, mark: markName + "=" + name, own: own}.end(ctx)
}

func (n note) write(file *os.File) error {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("procgroup: recording a command: %w", err)
	}
	return nil
}

// parseNote returns the last complete line. It returns false if there is none, which means
// that nothing was started.
func parseNote(data []byte) (n note, ok bool) {
	for line := range bytes.Lines(data) {
		var next note
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &next) == nil && next.Leader >= 0 {
			n, ok = next, true
		}
	}
	return n, ok
}

// endPatience is how long EndLeft waits for killed processes to disappear.
const endPatience = 5 * time.Second

// EndLeft ends what the recorded commands left running, and removes their notes. It must be
// called before the first Start. Its result is valid even with an error, which means that
// something may still be running.
func (l *Ledger) EndLeft() (all []Left, err error) {
	if l == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("procgroup: listing recorded commands: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(l.dir, entry.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("procgroup: reading the note of a command: %w", err))
			continue
		}
		if n, ok := parseNote(data); ok && n.World == l.world {
			ended, err := l.end(n, entry.Name())
			all, errs = append(all, Left{n.Owner, ended}), append(errs, err)
		}
		errs = append(errs, os.Remove(path))
	}
	return all, errors.Join(errs...)
}
