package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// nameMachine sets the name of this machine to that of --label, or to the one that the person
// chooses if none has been chosen yet. It returns the name that others see.
func (p *pairing) nameMachine(ctx context.Context, c *client.Client) (string, error) {
	info, err := getHost(ctx, c)
	if err != nil {
		return "", err
	}
	label := p.flags.label
	if label == "" && info.Unnamed && !p.flags.yes && !p.flags.asJSON && terminal.IsTerminal(p.stdin) {
		if label, err = p.askName(ctx, info.Label); err != nil {
			return "", err
		}
	}
	if label == "" {
		return info.Label, nil
	}
	_, err = client.Call(ctx, c, api.NameHost, api.NameHostRequest{Label: label})
	return label, err
}

// askName asks for the name of this machine until the answer can be one.
func (p *pairing) askName(ctx context.Context, present string) (string, error) {
	for {
		answer, err := p.asker.Line(ctx, fmt.Sprintf("Name of this machine, as others see it [%s]: ", printable(present)))
		if err != nil {
			return "", err
		}
		answer = strings.TrimSpace(answer)
		switch {
		case answer == "":
			return present, nil
		case checkName(answer) == nil:
			return answer, nil
		}
		fmt.Fprintf(p.stderr, "The name must have 1 to %d bytes of printable text.\n", wire.MaxLabel)
	}
}

// checkName checks the value of --label; "" is none.
func checkName(label string) error {
	if label != "" && wire.CheckLabel(label) != nil {
		return usagef("--label %q cannot be a name: give it 1 to %d bytes of printable text", clip(label, 40), wire.MaxLabel)
	}
	return nil
}
