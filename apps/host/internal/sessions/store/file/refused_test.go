package file_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
)

// holdChild holds a session until its input ends.
func holdChild(args []string) error {
	log, err := file.New(args[0], quiet()).Open(context.Background(), "old")
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, log.Close())
}

// TestSecondProcessIsRefused: the second process learns who was first; when that
// one ends, in whatever way, the session is free.
func TestSecondProcessIsRefused(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := placeOld(t)
		cmd := runChild(t, "hold", dir)
		in, err := cmd.StdinPipe()
		check(t, err)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		p := file.New(dir, quiet())
		_, err = p.Open(t.Context(), "old")
		var inUse *store.InUseError
		if !errors.As(err, &inUse) || inUse.Holder.PID != cmd.Process.Pid || inUse.Holder.Program != filepath.Base(cmd.Path) {
			t.Fatalf("the second opening: %v, want the process %d", err, cmd.Process.Pid)
		}
		if text := err.Error(); !strings.Contains(text, fmt.Sprint(cmd.Process.Pid)) || !strings.Contains(text, filepath.Base(cmd.Path)) {
			t.Errorf("the refusal does not name the holder: %s", text)
		}
		if f, err := p.Read(t.Context(), "old"); err != nil || len(f.Tree.Entries()) != 2 {
			t.Errorf("reading what is open elsewhere: %v", err)
		}
		if killed {
			check(t, cmd.Process.Kill())
		} else {
			check(t, in.Close())
		}
		_ = cmd.Wait() // the way it ended is not the question
		log, err := p.Open(t.Context(), "old")
		check(t, err)
		check(t, log.Close())
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheFolderOfAProjectIsSynced before its first session is acknowledged.
func TestTheFolderOfAProjectIsSynced(t *testing.T) {
	p := file.New(t.TempDir(), quiet())
	var steps []string
	p.SetFault(func(s file.Step) error { steps = append(steps, s.Name); return nil })
	for _, c := range []struct{ id, want string }{{"first", "syncdir write sync rename syncdir"}, {"second", "write sync rename syncdir"}} {
		steps = nil
		log, err := p.Create(t.Context(), "prj", json.RawMessage(newHeader(c.id)))
		check(t, err)
		if got := strings.Join(steps, " "); got != c.want {
			t.Errorf("the %s session: %s, want %s", c.id, got, c.want)
		}
		check(t, log.Close())
	}
}

// TestASessionThatWasNotCreatedIsNotThere: whichever step fails, the caller may create it again.
func TestASessionThatWasNotCreatedIsNotThere(t *testing.T) {
	for name, create := range map[string]func(*testing.T, *file.Provider) error{
		"create": func(t *testing.T, p *file.Provider) error {
			log, err := p.Create(t.Context(), "prj", json.RawMessage(newHeader("s")), line("first"))
			if err == nil {
				check(t, log.Close())
			}
			return err
		},
		"import": func(t *testing.T, p *file.Provider) error {
			return p.Import(t.Context(), "prj", append([]byte(newHeader("s")), '\n'))
		},
	} {
		for _, fails := range []string{"write", "sync", "rename", "syncdir"} {
			t.Run(name+"/"+fails, func(t *testing.T) {
				p := file.New(t.TempDir(), quiet())
				renamed := false
				p.SetFault(func(s file.Step) error {
					renamed = renamed || s.Name == "rename"
					if s.Name != fails || s.Name == "syncdir" && !renamed { // that of the project's folder comes before
						return nil
					}
					return &os.PathError{Op: s.Name, Path: "disk", Err: syscall.ENOSPC}
				})
				if err := create(t, p); !errors.Is(err, store.ErrFull) {
					t.Fatalf("it failed with %v, want ErrFull", err)
				}
				p.SetFault(nil)
				if list, err := file.New(p.Dir(), quiet()).List(t.Context()); err != nil || len(list) != 0 {
					t.Errorf("listed are %v, %v", list, err)
				}
				check(t, create(t, p))
			})
		}
	}
}

// TestFaultsOfTheDisk lets every step of an append fail, also after a part of a
// write, and also the repair after it: the caller learns what to do, nothing
// counts, and when the fault is gone the session continues.
func TestFaultsOfTheDisk(t *testing.T) {
	some := []json.RawMessage{line("x")}
	more := []json.RawMessage{line("x"), line("y")}
	for _, fails := range []string{"write", "sync", "syncdir", "write truncate", "sync truncate", "write truncate syncdir"} {
		for _, lines := range [][]json.RawMessage{some, more} {
			if fails == "syncdir" && len(lines) == 1 {
				continue // a single line needs none
			}
			for _, nth := range []int{1, 2} {
				if nth > len(lines) {
					continue // only an announced append writes and syncs twice
				}
				t.Run(fmt.Sprintf("%s/%d lines/%d", fails, len(lines), nth), func(t *testing.T) {
					faultOnce(t, fails, nth, lines)
				})
			}
		}
	}
}

func faultOnce(t *testing.T, fails string, nth int, lines []json.RawMessage) {
	p := file.New(t.TempDir(), quiet())
	log, err := p.Create(t.Context(), "prj", json.RawMessage(newHeader("s")), line("first"))
	check(t, err)
	seen := map[string]int{}
	p.SetFault(func(s file.Step) error {
		seen[s.Name]++
		if !strings.Contains(" "+fails+" ", " "+s.Name+" ") || strings.HasPrefix(fails, s.Name) && seen[s.Name] < nth && s.Name != "syncdir" {
			return nil
		}
		if s.Name == "write" {
			_, _ = s.File.WriteAt(s.Data[:len(s.Data)/2], s.At)
		}
		return &os.PathError{Op: s.Name, Path: "disk", Err: syscall.ENOSPC}
	})
	for range 2 {
		if err := log.Append(t.Context(), lines...); !errors.Is(err, store.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("append: %v, want ErrFull", err)
		}
		if f, err := p.Read(t.Context(), "s"); err != nil || len(f.Tree.Entries()) != 1 || len(f.Damage) != 0 {
			t.Fatalf("after a failed append a reader sees %+v, %v", f, err)
		}
	}
	other := file.New(p.Dir(), quiet()) // as after a crash at this moment
	if f, err := other.Read(t.Context(), "s"); err != nil || len(f.Tree.Entries()) > 1+len(lines) {
		t.Fatalf("another process sees %v, %v", f, err)
	}
	p.SetFault(nil)
	check(t, log.Append(t.Context(), line("z")))
	check(t, log.Append(t.Context(), lines...))
	check(t, log.Close())
	f, err := p.Read(t.Context(), "s")
	if err != nil || len(f.Damage) != 0 || len(f.Tree.Entries()) != 2+len(lines) {
		t.Fatalf("after the fault the session is %+v, %v", f, err)
	}
}
