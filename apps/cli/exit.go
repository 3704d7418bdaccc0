package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/diskerror"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Exit codes. They are part of the interface and never change their meaning.
const (
	ExitOK          = 0
	ExitFailed      = 1 // the operation failed
	ExitUsage       = 2 // the command line or the configuration is invalid; nothing was tried
	ExitUnreachable = 3 // the host, the device, the relay or its store cannot be reached
	ExitRefused     = 4 // the other side, or a person, refused
)

// usageError reports an invalid command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errRefused marks a refusal if no other error does.
var errRefused = errors.New("refused")

// errUnreachable marks something as unreachable if no other error does.
var errUnreachable = errors.New("not reachable")

// said is an error with its own message that keeps its cause for the exit code.
type said struct {
	message string
	cause   error
}

func (e *said) Error() string { return e.message }
func (e *said) Unwrap() error { return e.cause }

func sayf(cause error, format string, args ...any) error {
	return &said{fmt.Sprintf(format, args...), cause}
}

// exitCode is the only function that maps errors to exit codes. A refusal takes precedence
// over a lost connection: a revoked client loses its connection as well.
func exitCode(err error) int {
	var failed *paths.FailedError
	if errors.As(err, &failed) && failed.Removed() { // whatever the other paths say
		return ExitRefused
	}
	return codeOfCause(err)
}

// mayComeBack reports whether another attempt can help. A refusal on one path decides nothing
// while another one may lead to the device.
func mayComeBack(err error) bool { return codeOfCause(err) == ExitUnreachable }

func codeOfCause(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, new(*usageError)), errors.As(err, new(*host.ConfigError)), errors.Is(err, pair.ErrCode):
		return ExitUsage
	case isRefused(err):
		return ExitRefused
	case errors.Is(err, context.Canceled): // a connection closed by an interrupt does not count as lost
		return ExitFailed
	case isUnreachable(err):
		return ExitUnreachable
	}
	return ExitFailed
}

func isRefused(err error) bool {
	var (
		refused *api.Error
		relay   *wire.Error
		closed  *client.ClosedError
	)
	switch {
	case errors.Is(err, errRefused), errors.Is(err, doctor.ErrRefused), errors.As(err, new(*client.PairError)):
		return true
	case errors.As(err, &refused):
		return refused.Kind == api.KindNotAllowed || refused.Kind == api.KindPairing
	case errors.As(err, &closed):
		return closed.Reason == wire.ReasonRevoked || closed.Reason == wire.ReasonNotAuthorized || closed.Reason == wire.ReasonExpired
	case errors.As(err, &relay):
		return slices.Contains([]wire.Kind{
			wire.KindBadVersion, wire.KindBadProof, wire.KindWrongAuthority, wire.KindUnauthorized,
			wire.KindLimit, wire.KindRateLimited, wire.KindNotAllowed, wire.KindInviteRequired, wire.KindNotAdmitted,
		}, relay.Kind)
	}
	return false
}

func isUnreachable(err error) bool {
	var (
		refused *api.Error
		relay   *wire.Error
	)
	for _, known := range []error{
		errUnreachable, relayconn.ErrUnreachable, store.ErrUnreachable, bus.ErrUnreachable, relayconn.ErrClosed, client.ErrDirect, client.ErrLost, host.ErrNoHost,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	switch {
	case errors.As(err, new(*client.ClosedError)), errors.As(err, new(*relayconn.GoodbyeError)):
		return true
	case errors.As(err, &refused):
		return refused.Kind == api.KindUnavailable
	case errors.As(err, &relay):
		return slices.Contains([]wire.Kind{
			wire.KindDeviceOffline, wire.KindUnavailable, wire.KindShuttingDown, wire.KindLoginTimeout,
		}, relay.Kind)
	}
	return false
}

// diskTrouble explains a full disk and one without the right to write, wherever it was met. It
// returns "" if the message of the error says more.
func diskTrouble(err error) string {
	if errors.As(err, new(*said)) || errors.As(err, new(*usageError)) || !diskerror.IsFull(err) && !diskerror.IsReadOnly(err) {
		return ""
	}
	return printable(diskerror.Explain(err))
}

// sentence formats an error for display: one line without repetitions and without names of
// packages and requests.
func sentence(err error) string {
	if errors.Is(err, context.Canceled) && !errors.As(err, new(*said)) {
		return "interrupted"
	}
	if text := diskTrouble(err); text != "" {
		return text
	}
	var kept []string
	for line := range strings.FieldsFuncSeq(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = withoutRequest(withoutPackages(strings.TrimSpace(line)))
		if !slices.ContainsFunc(kept, func(before string) bool { return strings.Contains(before, line) }) {
			kept = append(kept, line)
		}
	}
	return printable(strings.Join(kept, "; "))
}
