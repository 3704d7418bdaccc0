// Command go sends a prompt to a host and prints the answer while it is written:
//
//	SCOREL_ADDR=127.0.0.1:7430 SCOREL_TOKEN=... go run . FOLDER TEXT
//
// FOLDER must be a project of the host. The token needs the grants view and prompt.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: SCOREL_ADDR=... SCOREL_TOKEN=... go run . FOLDER TEXT")
	}
	transport, err := client.DialDirect(ctx, os.Getenv("SCOREL_ADDR"), os.Getenv("SCOREL_TOKEN"))
	if err != nil {
		return err
	}
	clientKey := rand.Text() // makes it safe to repeat a request whose answer was lost
	ended := make(chan api.TurnEnded, 1)
	c := client.New(transport, func(e api.EventEnvelope) {
		switch event := e.Event.(type) {
		case api.BlockDelta:
			fmt.Print(event.Delta)
		case api.TurnEnded:
			if event.ClientKey == clientKey {
				ended <- event
			}
		}
	})
	defer func() { _ = c.Close() }()
	sessionID, err := newSession(ctx, c, args[0], clientKey)
	if err != nil {
		return err
	}
	// From here on the events of the session arrive, each once and in order.
	if _, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: sessionID}); err != nil {
		return err
	}
	if _, err := client.Call(ctx, c, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: clientKey, Text: args[1]}); err != nil {
		return err
	}
	select {
	case turn := <-ended:
		fmt.Println()
		if turn.Error != "" {
			return errors.New(turn.Error)
		}
		return nil
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newSession starts a session in the project of a folder.
func newSession(ctx context.Context, c *client.Client, folder, clientKey string) (string, error) {
	list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list.Projects, func(p api.Project) bool { return p.Path == folder })
	if at < 0 {
		return "", fmt.Errorf("%s is not a project of this host", folder)
	}
	created, err := client.Call(ctx, c, api.CreateSession, api.CreateSessionRequest{ProjectID: list.Projects[at].ID, ClientKey: clientKey})
	if err != nil {
		return "", err
	}
	return created.Session.ID, nil
}
