package doctor

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Outages describes the unavailable session providers of a host for people, one sentence
// each.
func Outages(list []api.Outage) []string {
	var lines []string
	for _, o := range list {
		lines = append(lines, fmt.Sprintf("those in %s (%s) are unavailable: %s", o.Provider, o.Place, o.Reason))
	}
	return lines
}
