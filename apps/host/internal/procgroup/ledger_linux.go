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

// markName is a variable in the environment of every noted command: the name of its
// note. What a command starts has it too, unless it takes care not to.
const markName = "SCOREL_COMMAND_ID"

// Ledger notes which commands run: one file each, from before the command starts until
// it has ended with its children. A nil Ledger notes nothing. The process that writes
// it is alone with the folder.
type Ledger struct {
	dir   string
	world string // in which process ids mean what they mean here
}

// note is what a file holds: a line from before the start, and one from after it.
type note struct {
	Owner
	World string `json:"world"`
	// Leader is the command's own process, whose id is that of its session; 0 until it
	// has started. Began is when it was started, in clock ticks since the machine was.
	Leader int    `json:"leader,omitempty"`
	Began  uint64 `json:"began,omitempty"`
}

// OpenLedger returns the ledger in a folder, which is made where it is not there.
func OpenLedger(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("procgroup: making the folder of notes: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading when the machine was started: %w", err)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading whose process ids these are: %w", err)
	}
	return &Ledger{dir, string(bytes.TrimSpace(boot)) + " " + space}, nil
}

// Start gives the command a session of its own, as Own does, and starts it. It is noted
// until forget, which is called when Kill was.
func (l *Ledger) Start(cmd *exec.Cmd, owner Owner) (forget func(), err error) {
	Own(cmd)
	if l == nil {
		return func() {}, cmd.Start()
	}
	name := rand.Text()
	path := filepath.Join(l.dir, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("procgroup: noting a command: %w", err)
	}
	defer func() {
		_ = file.Close() // what was written needs no sync: it is to outlive the process, not the machine
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
		_ = n.write(file) // without it the mark in the environment tells
	}
	return func() { _ = os.Remove(path) }, nil
}

func (n note) write(file *os.File) error {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("procgroup: noting a command: %w", err)
	}
	return nil
}

// parseNote returns the last whole line; false where there is none, and so nothing was
// started.
func parseNote(data []byte) (n note, ok bool) {
	for line := range bytes.Lines(data) {
		var next note
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &next) == nil && next.Leader >= 0 {
			n, ok = next, true
		}
	}
	return n, ok
}

// endPatience is how long EndLeft waits for processes that were killed to be gone.
const endPatience = 5 * time.Second

// EndLeft ends what the commands left running that are noted, and forgets them. It is
// called before the first Start. What it returns is good also beside an error, which
// says that something may run on.
func (l *Ledger) EndLeft() (all []Left, err error) {
	if l == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading which commands ran: %w", err)
	}
	var errs []error
	own, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("procgroup: reading our own session: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	for _, entry := range entries {
		path := filepath.Join(l.dir, entry.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("procgroup: reading of a command that ran: %w", err))
			continue
		}
		if n, ok := parseNote(data); ok && n.World == l.world {
			ended, err := remains{note: n, mark: markName + "=" + entry.Name(), own: own}.end(ctx)
			all, errs = append(all, Left{n.Owner, ended}), append(errs, err)
		}
		errs = append(errs, os.Remove(path))
	}
	return all, errors.Join(errs...)
}
