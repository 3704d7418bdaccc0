package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestExitCode(t *testing.T) {
	lost := func(err error) error { return fmt.Errorf("%w: %w", client.ErrLost, err) }
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"none", nil, ExitOK},
		{"anything", errors.New("disk full"), ExitFailed},
		{"turn", &turnError{"the model refused"}, ExitFailed},
		{"usage", usagef("no relay"), ExitUsage},
		{"code", fmt.Errorf("reading: %w", pair.ErrCode), ExitUsage},
		{"no host", host.ErrNoHost, ExitUnreachable},
		{"relay down", fmt.Errorf("dialing: %w", relayconn.ErrUnreachable), ExitUnreachable},
		{"direct", client.ErrDirect, ExitUnreachable},
		{"lost", lost(errors.New("EOF")), ExitUnreachable},
		{"interrupted", lost(context.Canceled), ExitFailed},
		{"peer gone", lost(&client.ClosedError{Reason: wire.ReasonPeerGone}), ExitUnreachable},
		{"revoked", lost(&client.ClosedError{Reason: wire.ReasonRevoked}), ExitRefused},
		{"not authorized", &client.ClosedError{Reason: wire.ReasonNotAuthorized}, ExitRefused},
		{"goodbye", lost(&relayconn.GoodbyeError{Goodbye: wire.Goodbye{Reason: wire.ReasonShutdown}}), ExitUnreachable},
		{"pairing", &client.PairError{Kind: wire.KindPairUnknown}, ExitRefused},
		{"relay: unauthorized", wire.Errorf(wire.KindUnauthorized, "no"), ExitRefused},
		{"relay: offline", wire.Errorf(wire.KindDeviceOffline, "off"), ExitUnreachable},
		{"relay: bad frame", wire.Errorf(wire.KindBadFrame, "bad"), ExitFailed},
		{"host: not allowed", api.Errorf(api.KindNotAllowed, "no"), ExitRefused},
		{"host: pairing", api.Errorf(api.KindPairing, "no"), ExitRefused},
		{"host: unavailable", api.Errorf(api.KindUnavailable, "relay down"), ExitUnreachable},
		{"host: bad path", api.Errorf(api.KindInvalidPath, "no folder"), ExitFailed},
		{"a sentence keeps its cause", sayf(relayconn.ErrUnreachable, "not forgotten"), ExitUnreachable},
		{"a person said no", sayf(errRefused, "not paired"), ExitRefused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := exitCode(test.err); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestSentenceIsOneLine(t *testing.T) {
	err := errors.Join(errors.New("first"), errors.New("second\x1b[2J"))
	if got := sentence(err); got != `first; second\x1b[2J` {
		t.Errorf("got %q", got)
	}
	if got := sentence(fmt.Errorf("waiting for x: %w", context.Canceled)); got != "interrupted" {
		t.Errorf("got %q", got)
	}
}

// TestEveryCommandHasHelp walks the whole tree: each command has a description and an
// example, and no flag a sentence in place of the name of its value.
func TestEveryCommandHasHelp(t *testing.T) {
	var walk func(path string, a *app)
	seen := 0
	walk = func(path string, a *app) {
		root := newRoot(a)
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range cmd.Commands() {
			seen++
			if child.Short == "" || child.Example == "" && cmd.Name() != "completion" {
				t.Errorf("%s has no short text or no example", child.CommandPath())
			}
			child.Flags().VisitAll(func(f *pflag.Flag) {
				if value, _ := pflag.UnquoteUsage(f); strings.Contains(value, " ") {
					t.Errorf("the help of %s shows %q as the value of --%s", child.CommandPath(), value, f.Name)
				}
			})
			walk(path+" "+child.Name(), a)
		}
	}
	walk("", &app{env: &environment{}})
	if seen < 20 {
		t.Errorf("only %d commands were found", seen)
	}
}

// TestASentenceSaysNothingTwice: if two parts fail with the same error, people see it once.
func TestASentenceSaysNothingTwice(t *testing.T) {
	full := errors.New("writing run/host.json: no space left on device")
	for want, err := range map[string]error{
		"the host ended; " + full.Error(): errors.Join(errors.New("the host ended"), full, full),
		"no answer: connection refused":   errors.New("no answer: connection refused\n\tconnection refused\r\n"),
		"a; b":                            errors.Join(errors.New("a"), errors.New("b")),
	} {
		if got := sentence(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
