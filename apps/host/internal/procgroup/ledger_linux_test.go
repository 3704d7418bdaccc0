package procgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// starter is a process that starts a recorded command and is killed. Its arguments are the
// folder of the notes and the command, which reads an empty line once everything is
// recorded; its output is passed on.
func starter(args []string) error {
	l, err := OpenLedger(args[0])
	if err != nil {
		return err
	}
	cmd := exec.Command("bash", "-c", args[1])
	if len(args) > 2 { // supervised
		cmd = exec.Command(os.Args[0], "bash", "-c", args[1])
		cmd.Env = append(os.Environ(), childEnv+"="+supervisorKind)
	}
	cmd.Stdout = os.Stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if _, err := l.Start(cmd, Owner{Session: "s", Call: "c"}); err != nil {
		return err
	}
	_, _ = io.WriteString(in, "\n")        // most commands do not read it
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends it
	return err
}

// killedStarter runs a command that writes n process ids, one a line, and kills the process
// that started it with SIGKILL. Remaining processes are killed at the end of the test.
func killedStarter(t *testing.T, command string, n int) (dir string, pids []int) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "commands")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, dir, command)
	cmd.Env = append(os.Environ(), childEnv+"=starter")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range n {
		line, err := lines.ReadString('\n')
		pid, convErr := strconv.Atoi(strings.TrimSpace(line))
		if err := errors.Join(err, convErr); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return dir, pids
}

// endLeft does what the next process does.
func endLeft(t *testing.T, dir string) int {
	t.Helper()
	l, err := OpenLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := l.EndLeft()
	if err != nil || len(left) != 1 || left[0].Owner != (Owner{Session: "s", Call: "c"}) {
		t.Fatalf("left are %+v, %v", left, err)
	}
	if again, err := l.EndLeft(); err != nil || len(again) > 0 {
		t.Errorf("the second time there are %+v, %v", again, err)
	}
	return left[0].Processes
}

func lives(pid int) bool {
	p, ok := look(pid)
	return ok && !p.dead
}

func TestWhatAKilledProcessLeftIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		pids    int // written by the command
	}{
		"a child of the command":  {`read; sleep 600 & echo $!; wait`, 1},
		"the child of a child":    {`read; (sleep 600 & echo $!; wait) & wait`, 1},
		"in a group of its own":   {`read; set -m; sleep 600 & echo $!; sleep 600 & echo $!; wait`, 2},
		"one that begins others":  {`read; (trap "" TERM HUP; echo $BASHPID; while :; do sleep 0.01; done) & wait`, 1},
		"beside one without mark": {`read; env -i sleep 600 & echo $!; sleep 600 & echo $!; wait`, 2},
		"one that left it":        {`read; setsid bash -c 'echo $$; exec sleep 600' & wait`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, pids := killedStarter(t, c.command, c.pids)
			if endLeft(t, dir) == 0 { // the command itself may be among them: it dies with its parent, a moment later
				t.Error("nothing was ended")
			}
			for _, pid := range pids {
				if lives(pid) {
					t.Errorf("the process %d lives", pid)
				}
			}
		})
	}
}

// TestOneThatWasKilledBeforeItNotedTheProcess: the mark in the environment identifies the
// command.
func TestOneThatWasKilledBeforeItNotedTheProcess(t *testing.T) {
	dir, pids := killedStarter(t, `sleep 600 & echo $!; wait`, 1)
	path, lines := onlyNote(t, dir)
	if err := os.WriteFile(path, []byte(lines[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	if ended := endLeft(t, dir); ended == 0 || lives(pids[0]) {
		t.Errorf("%d processes were ended", ended)
	}
}

// TestEndingWhereOurSessionHasNoID: a process namespace can be entered without a new
// session, and getsid then returns 0. A command whose process was not recorded has leader 0
// too, but that does not mean that we descend from it.
func TestEndingWhereOurSessionHasNoID(t *testing.T) {
	dir, pids := killedStarter(t, `sleep 600 & echo $!; wait`, 1)
	path, _ := onlyNote(t, dir)
	r := remains{mark: markName + "=" + filepath.Base(path), own: 0}
	if ended, err := r.end(t.Context()); err != nil || ended == 0 || lives(pids[0]) {
		t.Errorf("%d processes were ended, %v", ended, err)
	}
}

// TestNoStrangerIsEnded: process ids are reused.
func TestNoStrangerIsEnded(t *testing.T) {
	stranger := exec.CommandContext(t.Context(), "bash", "-c", "sleep 600 & echo $!; wait")
	Own(stranger)
	out, err := stranger.StdoutPipe()
	if err == nil {
		err = stranger.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { Kill(stranger); _ = stranger.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	began := func(pid int) uint64 { p, _ := look(pid); return p.began }
	l, err := OpenLedger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]note{
		"started at another time":      {World: l.world, Leader: stranger.Process.Pid, Began: began(stranger.Process.Pid) - 1},
		"on a restarted machine":       {World: "another", Leader: stranger.Process.Pid, Began: began(stranger.Process.Pid)},
		"no leader of a session":       {World: l.world, Leader: child, Began: began(child)},
		"not noted, and without mark":  {World: l.world},
		"our own session":              {World: l.world, Leader: session(t), Began: began(session(t))},
		"a session without its leader": {World: l.world, Leader: orphans(t), Began: 1},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(l.dir, "note"))
			if err == nil {
				err = errors.Join(n.write(file), file.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			left, err := l.EndLeft()
			if err != nil || len(left) > 0 && left[0].Processes > 0 || !lives(stranger.Process.Pid) || !lives(child) {
				t.Errorf("ended were %+v, %v", left, err)
			}
			if entries, _ := os.ReadDir(l.dir); len(entries) > 0 {
				t.Errorf("the note is still there")
			}
		})
	}
}

// session returns the id of our own session.
func session(t *testing.T) int {
	t.Helper()
	p, ok := look(os.Getpid())
	if !ok {
		t.Fatal("this process is not found")
	}
	return p.session
}

// orphans returns a session whose leader is gone, with a process in it that ends with the
// test.
func orphans(t *testing.T) int {
	t.Helper()
	leader := exec.CommandContext(t.Context(), "bash", "-c", "sleep 600 > /dev/null 2>&1 & echo $!")
	Own(leader)
	out, err := leader.Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !lives(pid) {
			t.Error("one of a session without its leader was ended")
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	return leader.Process.Pid
}

func TestACommandIsNotedWhileItRuns(t *testing.T) {
	l, err := OpenLedger(filepath.Join(t.TempDir(), "commands"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	forget, err := l.Start(cmd, Owner{Server: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, lines := onlyNote(t, l.dir)
	if len(lines) != 2 {
		t.Fatalf("noted are %q", lines)
	}
	before, _ := parseNote([]byte(lines[0]))
	after, _ := parseNote([]byte(lines[1]))
	if before.Leader != 0 || after.Leader != cmd.Process.Pid || after.Server != "m" {
		t.Errorf("noted are %q", lines)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	forget()
	if _, err := l.Start(exec.CommandContext(t.Context(), "/is/not/there"), Owner{}); err == nil {
		t.Error("a program that is not there was started")
	}
	if entries, err := os.ReadDir(l.dir); err != nil || len(entries) > 0 {
		t.Errorf("there are still %v, %v", entries, err)
	}
}

// onlyNote returns the lines of the only note of a folder.
func onlyNote(t *testing.T, dir string) (path string, lines []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("the notes are %v, %v", paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return paths[0], slices.Collect(strings.Lines(string(data)))
}

func FuzzParseNote(f *testing.F) {
	f.Add([]byte(`{"call":"c","world":"w"}` + "\n" + `{"call":"c","world":"w","leader":12,"began":34}` + "\n"))
	f.Add([]byte(`{"call":"c","world":"w"}` + "\n" + `{"call":"c","wor`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, ok := parseNote(data); n.Leader < 0 || !ok && n != (note{}) {
			t.Errorf("%q is %+v", data, n)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) c) S 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 34 1 1\n"))
	f.Add([]byte("12 ()) Z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, ok := parseStat(data); ok && p == (process{}) && len(data) < 40 {
			t.Errorf("%q is a process", data)
		}
	})
	own, ok := look(os.Getpid())
	if !ok || own.pid != os.Getpid() || own.began == 0 || own.dead {
		f.Errorf("this process is %+v, %v", own, ok)
	}
	want := process{pid: 12, parent: 1, session: 12, began: 34}
	if p, ok := parseStat(fmt.Append(nil, "12 (a) b) c) S 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 34 1 1\n")); !ok || p != want {
		f.Errorf("read is %+v, %v", p, ok)
	}
}
