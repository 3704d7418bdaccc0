package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// State is what a running host tells the command line on its machine.
type State = state.Run

// ErrNoHost says that no host runs on the home.
var ErrNoHost = state.ErrNoHost

// ReadState finds the running host of a home. What a dead one left is removed,
// and the error is ErrNoHost.
func ReadState(home string) (State, error) { return state.ReadRun(state.Paths{Home: home}) }

// DialLocal connects to the running host of a home.
func DialLocal(ctx context.Context, home string) (client.Transport, error) {
	run, err := ReadState(home)
	if err != nil {
		return nil, err
	}
	return client.DialDirect(ctx, run.Addr, run.Token)
}

// stopLive asks a live host to end.
func stopLive(run State) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	transport, err := client.DialDirect(ctx, run.Addr, run.Token)
	if err != nil {
		return fmt.Errorf("process %d does not answer: end it yourself: %w", run.PID, err)
	}
	c := client.New(transport, nil)
	_, err = client.Call[api.Empty](ctx, c, "stop_host", api.Empty{})
	_ = c.Close()
	if errors.Is(err, client.ErrLost) { // it was gone before its answer was
		return nil
	}
	return err
}
