package procgroup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// process is information about a process from the system.
type process struct {
	pid, parent, session int
	began                uint64 // clock ticks since boot
	dead                 bool   // not yet waited for
}

// parseStat parses /proc/<pid>/stat. The second field, the name of the program, may contain
// anything; it ends with the last parenthesis.
func parseStat(data []byte) (p process, ok bool) {
	const parent, session, began = 4 - 3, 6 - 3, 22 - 3 // indexes among the fields after the name, of which the first is field 3
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return p, false
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) <= began {
		return p, false
	}
	var errs [4]error
	p.pid, errs[0] = strconv.Atoi(string(bytes.TrimSpace(data[:open])))
	p.session, errs[1] = strconv.Atoi(string(fields[session]))
	p.began, errs[2] = strconv.ParseUint(string(fields[began]), 10, 64)
	p.parent, errs[3] = strconv.Atoi(string(fields[parent]))
	p.dead = fields[0][0] == 'Z' || fields[0][0] == 'X'
	return p, errs == [4]error{}
}

// look returns information about a process; false if it is gone.
func look(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(data)
}

// running returns all processes.
func running() ([]process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("procgroup: listing processes: %w", err)
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("procgroup: listing processes: %w", err)
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := look(pid); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// marked reports whether a process was started with the mark in its environment. The
// environment of another user's process cannot be read; such a process is never ours.
func (p process) marked(mark string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	return err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(pair []byte) bool { return string(pair) == mark })
}

// kill kills exactly this process. An os.Process refers to one process and not to a later
// one with the same id, so what is checked while holding it is true for what is killed.
func (p process) kill() bool {
	held, err := os.FindProcess(p.pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	now, ok := look(p.pid)
	return ok && now.began == p.began && now.session == p.session && held.Kill() == nil
}

// killSession kills the processes in the session of a command that we started. If the
// session leader exists and is not our child, the id was reused and means another session.
func killSession(id int) {
	const rounds = 10 // for processes that are started in the meantime
	self := os.Getpid()
	for range rounds {
		all, err := running()
		if err != nil || slices.ContainsFunc(all, func(p process) bool { return p.pid == id && p.parent != self }) {
			return
		}
		members := slices.DeleteFunc(all, func(p process) bool { return p.dead || p.session != id })
		if len(members) == 0 {
			return
		}
		for _, p := range members {
			p.kill()
		}
	}
}

// killBelow kills the descendants of a command that we started and that has not been waited
// for yet. The command itself is stopped first, so that it neither starts further processes
// nor reports what is killed.
func killBelow(id int) {
	if p, ok := look(id); ok && p.parent == os.Getpid() {
		_ = unix.Kill(id, unix.SIGSTOP) // it may have ended
		endDescendants(id)
	}
}

// remains are the remaining processes of a recorded command: those in its session, all
// descendants, and those that bear its mark, such as a daemon that left the session.
//
// If this process is in that session itself, as is a host started by an agent of the
// previous host, nothing in it counts. If this process descends from the command, in
// whatever session, the command's descendants may include processes that we need: then only
// its session counts.
type remains struct {
	note
	mark string
	own  int // our session; 0 if its leader is outside our process namespace
}

// among selects the remains from all processes. The session's id still belongs to the
// command while its leader exists, and as long as a process in it bears the mark: a process
// can only be created in a session, so no one else's process is in it. known reports that
// this was established before.
func (r remains) among(all []process, known bool) []process {
	leader := slices.IndexFunc(all, func(p process) bool { return r.Leader != 0 && p.pid == r.Leader })
	candidates := slices.DeleteFunc(slices.Clone(all), func(p process) bool { return p.dead || p.session == r.own })
	marked, below := map[int]bool{}, map[int]bool{}
	for _, p := range candidates {
		marked[p.pid] = p.marked(r.mark)
	}
	if leader >= 0 {
		known = all[leader].began == r.Began
	} else {
		known = known || slices.ContainsFunc(candidates, func(p process) bool { return p.session == r.Leader && marked[p.pid] })
	}
	if leader >= 0 && known {
		for _, p := range descendants(all, r.Leader) {
			below[p.pid] = true
		}
	}
	fromIt := below[os.Getpid()] || r.Leader != 0 && r.Leader == r.own || markName+"="+os.Getenv(markName) == r.mark
	return slices.DeleteFunc(candidates, func(p process) bool {
		member := known && r.Leader != 0 && p.session == r.Leader
		return !member && (fromIt || !marked[p.pid] && !below[p.pid])
	})
}

// unsettled reports whether a process is in the middle of execve: until its new memory
// is set up, the kernel shows neither arguments nor environment, so its mark cannot be
// seen. Session 0 holds kernel threads, which have neither at any time.
func (p process) unsettled() bool {
	if p.dead || p.session == 0 {
		return false
	}
	for _, file := range []string{"/environ", "/cmdline"} {
		if data, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + file); err != nil || len(data) > 0 {
			return false
		}
	}
	return true
}

// end kills the remains until there are none, and returns how many there were. Processes
// that they start in the meantime are found in the next round. It stops after two rounds
// that find nothing, and waits for processes whose environment cannot be read yet.
func (r remains) end(ctx context.Context) (ended int, err error) {
	const (
		pause    = 5 * time.Millisecond // for the system to remove killed processes
		settling = 200                  // rounds: do not wait longer for a process that never shows an environment
	)
	killed := map[process]bool{}
	next := time.NewTicker(pause)
	defer next.Stop()
	for none, round := 0, 0; ; round++ {
		all, err := running()
		if err != nil {
			return len(killed), err
		}
		dying := slices.ContainsFunc(all, func(p process) bool { return killed[p] }) // a dead process does not compare equal
		left := r.among(all, len(killed) > 0)
		waiting := round < settling && slices.ContainsFunc(all, process.unsettled)
		if none++; dying || waiting || len(left) > 0 {
			none = 0
		} else if none == 2 {
			return len(killed), nil
		}
		for _, p := range left {
			if p.kill() {
				killed[p] = true
			}
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return len(killed), fmt.Errorf("procgroup: processes of a command cannot be killed: %d of the session %d", len(left), r.Leader)
		}
	}
}
