package wire_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// TestAFailureIsShownWhole: what a server says about a failure is shown in one line, up to a bound.
func TestAFailureIsShownWhole(t *testing.T) {
	const said = "the app has no bot: enable the bot in the developer console, then publish a version of the app"
	if got := (wire.Result{Error: "failed"}).Err(said + "\n\x1b[31m(230006)"); !strings.Contains(got.Error(), said+" [31m(230006)") {
		t.Errorf("%q", got)
	}
	if got := (wire.Result{Error: "rejected"}).Err(strings.Repeat("é", 1000)); len(got.Error()) > channel.MaxProblem+100 {
		t.Errorf("%d bytes", len(got.Error()))
	}
}
