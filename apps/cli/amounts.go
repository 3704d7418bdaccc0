package cli

import (
	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

// checkAmounts checks --cost and --tokens of any command. The protocol reads zero as no amount, which
// removes a limit: the opposite of what a person means with it. JSON has no infinite numbers.
func checkAmounts(cmd *cobra.Command) error {
	if cost := cmd.Flags().Lookup("cost"); cost != nil && cost.Changed {
		if amount, err := cmd.Flags().GetFloat64("cost"); err != nil || !(amount > 0 && amount <= api.MaxCost) { // also rejects NaN
			return usagef("--cost takes US dollars, more than 0 and at most %d", int64(api.MaxCost))
		}
	}
	if tokens := cmd.Flags().Lookup("tokens"); tokens != nil && tokens.Changed {
		if amount, err := cmd.Flags().GetInt64("tokens"); err != nil || amount <= 0 {
			return usagef("--tokens takes a number of tokens, more than 0")
		}
	}
	return nil
}
