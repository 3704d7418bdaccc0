package model

import (
	"cmp"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Price is the price of a million tokens in US dollars; zero if unknown.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

const million = 1e6

// cost returns the cost of the tokens. Cached tokens without a price of their own count as
// input.
func (p Price) cost(u session.Usage) session.Cost {
	c := session.Cost{
		Input: float64(u.Input) * p.Input / million, Output: float64(u.Output) * p.Output / million,
		CacheRead:  float64(u.CacheRead) * cmp.Or(p.CacheRead, p.Input) / million,
		CacheWrite: float64(u.CacheWrite) * cmp.Or(p.CacheWrite, p.Input) / million,
	}
	c.Total = c.Input + c.Output + c.CacheRead + c.CacheWrite
	return c
}
