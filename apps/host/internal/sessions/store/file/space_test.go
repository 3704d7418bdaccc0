//go:build unix

package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
)

func systemChildren() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"full": fullChild, "readonly": readOnlyChild,
		"measure-open": measureOpen, "measure-append": measureAppend, "measure-durable": measureDurable,
	}
}

// fullChild appends until the system refuses more bytes, and continues when it provides
// some again. The limit on the size of a file is the refusal that needs no mount
// and no rights; it too comes after a part of the write.
func fullChild(args []string) error {
	ctx := context.Background()
	p := file.New(args[0], quiet())
	log, err := p.Create(ctx, "prj", json.RawMessage(newHeader("s")))
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	tight := limit
	tight.Cur = 3*uint64(len(line("x"))) + 500
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		return err
	}
	kept := 0
	for err == nil {
		if err = log.Append(ctx, line(fmt.Sprint("l", kept))); err == nil {
			kept++
		}
	}
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free some") || kept < 2 {
		return fmt.Errorf("after %d lines: %w, want ErrFull with advice", kept, err)
	}
	if f, err := p.Read(ctx, "s"); err != nil || len(f.Tree.Entries()) != kept || len(f.Damage) > 0 {
		return fmt.Errorf("a refused append was left in the file: %w", err)
	}
	if _, err := p.Create(ctx, "prj", json.RawMessage(newHeader("big")), line("a"), line("b"), line("c"), line("d")); !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("creating: %w, want ErrFull", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := log.Append(ctx, line("again")); err != nil {
		return err
	}
	f, err := p.Read(ctx, "s")
	if err != nil || len(f.Tree.Entries()) != kept+1 || len(f.Damage) > 0 {
		return fmt.Errorf("the session did not continue: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(args[0], "prj", ".*"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("files were left behind: %v, %w", left, err)
	}
	return log.Close()
}

func TestFullDisk(t *testing.T) {
	if out, err := runChild(t, "full", t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// readOnlyChild works where it may not write, and then where it may again.
func readOnlyChild(args []string) error {
	ctx := context.Background()
	p := file.New(args[0], quiet())
	folder := filepath.Join(args[0], "prj")
	log, err := p.Open(ctx, "old") // its file may be read only
	if err != nil {
		return err
	}
	if n := len(log.File().Tree.Entries()); n != 2 {
		return fmt.Errorf("%d entries", n)
	}
	if err := log.Append(ctx, line("x")); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "who owns it") {
		return fmt.Errorf("append: %w, want ErrReadOnly with advice", err)
	}
	if _, err := p.Create(ctx, "prj", json.RawMessage(newHeader("s"))); !errors.Is(err, store.ErrReadOnly) {
		return fmt.Errorf("create: %w, want ErrReadOnly", err)
	}
	if err := errors.Join(os.Chmod(folder, 0o700), os.Chmod(filepath.Join(folder, "x_old.jsonl"), 0o600)); err != nil {
		return err
	}
	if err := log.Append(ctx, line("x")); err != nil {
		return err
	}
	if f, err := p.Read(ctx, "old"); err != nil || len(f.Tree.Entries()) != 3 || f.Migrated {
		return fmt.Errorf("the session did not continue: %w", err)
	}
	return log.Close()
}

// TestReadOnly runs as a user for whom permissions count: for root they do not.
func TestReadOnly(t *testing.T) {
	dir := placeOld(t)
	folder := filepath.Join(dir, "prj")
	cmd := runChild(t, "readonly", dir)
	if os.Getuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		for _, path := range []string{folder, filepath.Join(folder, "x_old.jsonl")} {
			check(t, os.Chown(path, nobody, nobody))
		}
		for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
			check(t, os.Chmod(path, 0o755))
		}
		cmd.Path = readable(t, cmd.Path)
	}
	check(t, os.Chmod(filepath.Join(folder, "x_old.jsonl"), 0o400))
	check(t, os.Chmod(folder, 0o500))
	out, err := cmd.CombinedOutput()
	check(t, os.Chmod(folder, 0o700))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// readable copies the test program to where any user may start it.
func readable(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scorel-readonly")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	check(t, os.Chmod(dir, 0o755))
	data, err := os.ReadFile(program)
	check(t, err)
	path := filepath.Join(dir, "child.test")
	check(t, os.WriteFile(path, data, 0o755))
	return path
}
