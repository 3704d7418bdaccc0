package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// trial bounds how long a sandbox is tested. It is long, because a working sandbox must not
// be rejected on a busy machine.
const trial = time.Minute

// Detect tests what this machine supports, strongest first. A sandbox is only used if it
// refuses what it must, which a probe inside it checks.
func Detect(ctx context.Context, config Config) *Sandbox {
	s := &Sandbox{config: config, kind: None}
	if config.Helper == "" {
		s.note = "this program has no helper to start commands"
		return s
	}
	s.supervised = true
	s.supervised = s.try(ctx, []string{"true"}) == nil
	if config.Off {
		s.note = "it is disabled in config.toml"
		return s
	}
	var err error
	if s.abi, err = ll.LandlockGetABIVersion(); err != nil || s.abi < 1 {
		s.note = "this kernel does not support Landlock"
		return s
	}
	if err = s.tryBubblewrap(ctx); err == nil {
		return s
	}
	s.kind, s.note = Landlock, err.Error()
	if err := s.probe(ctx); err != nil {
		s.kind, s.note = None, s.note+"; Landlock does not work here: "+err.Error()
	} else if !config.Network && s.abi < abiNetwork {
		s.note += "; this kernel cannot cut off the network, as network = false asks"
	}
	return s
}

func (s *Sandbox) tryBubblewrap(ctx context.Context) (err error) {
	if _, ok := callTable(); !ok {
		_, err := filterProgram()
		return err
	}
	if s.bwrap, err = exec.LookPath("bwrap"); err != nil {
		return errors.New("bubblewrap is not installed")
	}
	s.kind = Both
	// Older versions of bubblewrap do not have the option, and on some machines it fails.
	// The filter refuses the same calls.
	for _, s.noUserns = range []bool{true, false} {
		if err = s.probe(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("bubblewrap does not work here: %w", err)
}

// probe runs the probe in the sandbox. The error names what is not refused.
func (s *Sandbox) probe(ctx context.Context) error {
	_, filtered := callTable()
	name := fmt.Sprintf(".scorel-probe-%d", os.Getpid())
	e := expected{Filter: filtered, Bound: s.kind == Both || os.Geteuid() == 0, Closed: []string{filepath.Join("/", name)}}
	there := existing(s.config.Hidden)
	if s.kind == Landlock && len(s.Reach().Exposed) == 0 {
		for _, path := range there {
			e.Closed = append(e.Closed, filepath.Join(path, name))
		}
	}
	if s.kind == Both {
		var err error
		if e.Apart, err = ownNamespaces(); err != nil {
			return err
		}
		for _, path := range there {
			file, err := os.CreateTemp(path, ".probe-")
			if err != nil {
				return fmt.Errorf("testing whether commands can see %s: %w", path, err)
			}
			_ = file.Close() // it is empty
			defer func() { _ = os.Remove(file.Name()) }()
			e.Gone = append(e.Gone, file.Name())
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.try(ctx, []string{s.config.Helper, HelperName, roleProbe, string(text)})
}

func ownNamespaces() (map[string]string, error) {
	own := map[string]string{}
	for _, name := range namespaces {
		var err error
		if own[name], err = os.Readlink("/proc/self/ns/" + name); err != nil {
			return nil, fmt.Errorf("reading the namespaces of this process: %w", err)
		}
	}
	return own, nil
}

// trialEnvironment holds what the test needs and no secrets, because other processes of the
// user can read it. GORACE configures programs built with the race detector.
func trialEnvironment() (env []string) {
	for _, name := range []string{"PATH", "GORACE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// try runs a command that changes nothing.
func (s *Sandbox) try(ctx context.Context, argv []string) error {
	dir, err := os.MkdirTemp("", "scorel-sandbox-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	argv = s.Wrap(argv, dir)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = trialEnvironment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); first != "" {
			return errors.New(first)
		}
		return err
	}
	return nil
}
