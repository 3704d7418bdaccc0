package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// trial bounds how long a sandbox is tried out.
const trial = 10 * time.Second

// Detect tries what this machine has, the strongest first.
func Detect(ctx context.Context, config Config) *Sandbox {
	s := &Sandbox{config: config, kind: None}
	switch {
	case config.Off:
		s.note = "it is switched off in config.toml"
		return s
	case config.Helper == "":
		s.note = "this program has no helper to start commands with"
		return s
	}
	var err error
	if s.abi, err = ll.LandlockGetABIVersion(); err != nil || s.abi < 1 {
		s.note = "this kernel has no Landlock"
		return s
	}
	if err = s.tryBubblewrap(ctx); err == nil {
		return s
	}
	s.kind, s.note = Landlock, err.Error()
	if err := s.try(ctx); err != nil {
		s.kind, s.note = None, s.note+"; Landlock does not work here: "+err.Error()
	} else if !config.Network && s.abi < abiNetwork {
		s.note += "; this kernel cannot cut off the network, as network = false asks"
	}
	return s
}

func (s *Sandbox) tryBubblewrap(ctx context.Context) (err error) {
	if s.bwrap, err = exec.LookPath("bwrap"); err != nil {
		return errors.New("bubblewrap is not installed")
	}
	if s.shell, err = exec.LookPath("sh"); err != nil {
		return errors.New("there is no sh to start bubblewrap with")
	}
	s.kind = Both
	if err = s.try(ctx); err != nil {
		return fmt.Errorf("bubblewrap does not work here: %w", err)
	}
	return nil
}

// try runs a command that does nothing.
func (s *Sandbox) try(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "scorel-sandbox-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	argv := s.Wrap([]string{"true"}, dir)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
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
