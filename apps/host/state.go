package host

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
)

// State describes a running host to the command line on its machine.
type State = state.Run

// ErrNoHost means that no host runs on the home.
var ErrNoHost = state.ErrNoHost

// ReadState finds the running host of a home. It removes the file that a killed host left,
// and returns ErrNoHost then.
func ReadState(home string) (State, error) { return state.ReadRun(state.Paths{Home: home}) }

// DialLocal connects to the running host of a home.
func DialLocal(ctx context.Context, home string) (client.Transport, error) {
	run, err := ReadState(home)
	if err != nil {
		return nil, err
	}
	return client.DialDirect(ctx, run.Addr, run.Token)
}
