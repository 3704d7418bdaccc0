package procgroup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// process is what the system tells of one.
type process struct {
	pid, parent, session int
	began                uint64 // clock ticks since the machine was started
	dead                 bool   // and not yet waited for
}

// parseStat reads /proc/<pid>/stat. The name of the program, the second field, may hold
// anything; it ends with the last bracket.
func parseStat(data []byte) (p process, ok bool) {
	const parent, session, began = 4 - 3, 6 - 3, 22 - 3 // places among the fields behind the name, which the third begins
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

// look tells of a process; false where it is gone.
func look(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(data)
}

// running returns the processes that are there.
func running() ([]process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("procgroup: looking for processes: %w", err)
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("procgroup: looking for processes: %w", err)
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

// marked tells whether a process was started with the mark in its environment. That of
// another user cannot be read, and is none of ours.
func (p process) marked(mark string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	return err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(pair []byte) bool { return string(pair) == mark })
}

// kill ends exactly this process. A Process stands for one and no later one with its id,
// so that what is seen while it is held is true of what is killed.
func (p process) kill() bool {
	held, err := os.FindProcess(p.pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	now, ok := look(p.pid)
	return ok && now.began == p.began && now.session == p.session && held.Kill() == nil
}

// killSession ends the processes of the session of a command that we started. Where its
// leader is there, and is not our child, the id has been given again and means another.
func killSession(id int) {
	const rounds = 10 // for what is started meanwhile
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

// remains are what is left of a noted command: those of its session. What left the
// session did so on purpose, as a daemon does, and would have outlived the command's own
// end too.
//
// Where we are in the session ourselves, as a host is that an agent of the one before it
// has started, nothing in it is a remain.
type remains struct {
	note
	mark string
	own  int // our session
}

// among returns the remains among all processes. The session's id is still that of the
// command while its leader is there, and as long as one in it bears the mark: as a session
// is entered by birth only, nobody else's is. known says that this was seen before.
func (r remains) among(all []process, known bool) []process {
	if r.Leader == 0 { // nobody noted which it became
		return slices.DeleteFunc(all, func(p process) bool { return p.dead || p.session == r.own || !p.marked(r.mark) })
	}
	if i := slices.IndexFunc(all, func(p process) bool { return p.pid == r.Leader }); i >= 0 {
		if all[i].began != r.Began {
			return nil
		}
		known = true
	}
	members := slices.DeleteFunc(all, func(p process) bool { return p.dead || p.session == r.own || p.session != r.Leader })
	if !known && !slices.ContainsFunc(members, func(p process) bool { return p.marked(r.mark) }) {
		return nil
	}
	return members
}

// end kills the remains until none is there, and tells how many they were. What they
// start meanwhile is found in the next round. One that is just becoming another program
// bears no mark for a moment, so the last word is that of two rounds.
func (r remains) end(ctx context.Context) (ended int, err error) {
	const pause = 5 * time.Millisecond // for the system, to clear away what was killed
	killed := map[process]bool{}
	next := time.NewTicker(pause)
	defer next.Stop()
	for none := 0; ; {
		all, err := running()
		if err != nil {
			return len(killed), err
		}
		dying := slices.ContainsFunc(all, func(p process) bool { return killed[p] }) // a dead one is not equal
		left := r.among(all, len(killed) > 0)
		if none++; dying || len(left) > 0 {
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
			return len(killed), fmt.Errorf("procgroup: what a command left running does not end: %d processes of the session %d", len(left), r.Leader)
		}
	}
}
