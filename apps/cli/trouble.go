package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// troubleshooting is the page that has a section for each kind of error. It is the one in the
// repository, because the machine may not reach its relay.
const troubleshooting = "https://github.com/scorel/scorel/blob/main/docs/troubleshooting.md#"

// report formats an error for a person: one line, and the address of the section about it if
// there is one.
func report(err error) string {
	text := "scorel: " + sentence(err)
	if help := helpOf(err); help != "" {
		text += "\nHelp: " + help
	}
	return text
}

// helpOf returns the address of the section about an error, or "" if there is none.
func helpOf(err error) string {
	if kind := troubleOf(err); kind != "" {
		return troubleshooting + kind
	}
	return ""
}

// troubleOf names the section about an error, or returns "" if its message is all there is to
// say. A kind that the other side gave says more than the end of the connection.
func troubleOf(err error) string {
	var (
		refused *api.Error
		relay   *wire.Error
		pairing *client.PairError
		closed  *client.ClosedError
		goodbye *relayconn.GoodbyeError
	)
	switch code := exitCode(err); {
	case code == ExitUsage:
		return ""
	case errors.As(err, &refused):
		return kindName(refused.Kind.String())
	case errors.As(err, &relay):
		return kindName(relay.Kind.String())
	case errors.As(err, &pairing):
		return kindName(pairing.Kind.String())
	case errors.As(err, &closed):
		return reasonName(closed.Reason)
	case errors.As(err, &goodbye):
		return reasonName(goodbye.Reason)
	case code == ExitUnreachable:
		return "unreachable"
	}
	return ""
}

// kindName returns the name of a kind, and that of unknown ones for a kind of a newer version.
func kindName(name string) string {
	if strings.HasPrefix(name, "kind_") {
		return wire.KindUnknown.String()
	}
	return name
}

// reasonName returns the name of a reason. Others come from the relay, which may send any text.
func reasonName(reason wire.Reason) string {
	if slices.Contains(wire.Reasons(), reason) {
		return string(reason)
	}
	return wire.KindUnknown.String()
}
