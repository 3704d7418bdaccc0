package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestTroubleshootingHasEveryKind: each kind of error and each reason has one section, and each
// section is about one of them.
func TestTroubleshootingHasEveryKind(t *testing.T) {
	wanted := map[string]bool{"unreachable": true}
	for k := api.Kind(0); !strings.HasPrefix(k.String(), "kind_"); k++ {
		wanted[k.String()] = true
	}
	for k := wire.Kind(0); !strings.HasPrefix(k.String(), "kind_"); k++ {
		wanted[k.String()] = true
	}
	for _, reason := range wire.Reasons() {
		wanted[string(reason)] = true
	}
	if len(wanted) < 45 {
		t.Fatalf("only %d kinds were found", len(wanted))
	}
	for line := range strings.Lines(readDocument(t, "docs/troubleshooting.md")) {
		name, isSection := strings.CutPrefix(strings.TrimSpace(line), "### `")
		if name = strings.TrimSuffix(name, "`"); !isSection {
			continue
		}
		if !wanted[name] {
			t.Errorf("docs/troubleshooting.md has a section %q, which is no kind or is there twice", name)
		}
		delete(wanted, name)
	}
	for name := range wanted {
		t.Errorf("docs/troubleshooting.md has no section ### `%s`", name)
	}
}

func TestErrorsLinkToTheirSection(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("sending: %w", api.Errorf(api.KindNotAllowed, "this needs the grant shell")), "not_allowed"},
		{api.Errorf(api.Kind(99), "new"), "unknown"},
		{errors.Join(relayconn.ErrClosed, &wire.Error{Kind: wire.KindDeviceOffline, Message: "offline"}), "device_offline"},
		{&client.PairError{Kind: wire.KindPairUnknown, Message: "no such code"}, "pair_unknown"},
		{&client.ClosedError{Reason: wire.ReasonRevoked}, "revoked"},
		{&client.ClosedError{Reason: "x\x1b[2J https://evil.example"}, "unknown"},
		{fmt.Errorf("dialing: %w", relayconn.ErrUnreachable), "unreachable"},
		{usagef("no such flag"), ""},
		{context.Canceled, ""},
		{errors.New("the file exists already"), ""},
	} {
		text := report(tc.err)
		_, link, found := strings.Cut(text, "\nHelp: "+troubleshooting)
		if found != (tc.want != "") || link != tc.want || !strings.HasPrefix(text, "scorel: ") {
			t.Errorf("%v: %q, want the section %q", tc.err, text, tc.want)
		}
	}
}
