package limits

import (
	"fmt"
	"math"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// slotSpace and secretSpace are how many slots and secrets a pairing code may
	// have: 4 and 8 digits of 5 bits.
	slotSpace   = 1 << (5 * wire.SlotLen)
	secretSpace = 1 << 40
	// MaxSlots is how many pairing codes a node keeps open. It leaves half of the 2^20
	// slots free, so that a free one is found at the second draw on average and a guess
	// hits nothing half of the time.
	MaxSlots = 1 << 19
	// MaxGuess is the greatest chance of guessing a code that limits may leave.
	MaxGuess = 1e-6
)

// Guess is the chance of guessing pairing codes within the lifetime of a code, by peers
// that use up every limit.
type Guess struct {
	Attempts int64 // at a slot, in total
	Alone    int64 // from one address
	// Secret is the chance of guessing slot and secret of any open code, and so of
	// pairing with a stranger. A slot allows one guess at its secret: a wrong guess
	// burns it.
	Secret float64
	// Slot is the chance that all peers together hit, and so burn, the slot of one given
	// code; SlotAlone is the chance that one address does. That only denies a pairing:
	// people can create a new code.
	Slot, SlotAlone float64
}

// Guessing computes the chances that the limits leave on a number of nodes, each of which
// counts on its own. It assumes the worst case, in which as many codes are open as can be:
// creating a code counts against the same limit as guessing one.
func (l Limits) Guessing(nodes int) Guess {
	l = l.WithDefaults()
	g := Guess{
		Attempts: int64(nodes) * l.AllPairs.within(l.PairTimeout),
		Alone:    int64(nodes) * min(l.Pairs.within(l.PairTimeout), l.AllPairs.within(l.PairTimeout)),
	}
	open := min(float64(g.Attempts), float64(nodes)*MaxSlots, slotSpace)
	g.Secret = hit(float64(g.Attempts), open/slotSpace/secretSpace)
	g.Slot = hit(float64(g.Attempts), 1.0/slotSpace)
	g.SlotAlone = hit(float64(g.Alone), 1.0/slotSpace)
	return g
}

// hit is the chance of at least one success in n tries. It is exact for tiny chances too.
func hit(n, each float64) float64 { return -math.Expm1(n * math.Log1p(-each)) }

// within is how many tokens a full bucket provides in d.
func (r Rate) within(d time.Duration) int64 { return int64(r.Burst) + int64(d/r.Every) }

// CheckGuessing rejects limits that make codes too easy to guess.
func (l Limits) CheckGuessing(nodes int) error {
	g := l.Guessing(nodes)
	if g.Secret >= MaxGuess {
		return fmt.Errorf("relay: at these limits a pairing code can be guessed with a chance of %.1e within its %s on %d nodes; the chance must stay under %.0e: allow fewer attempts in AllPairs",
			g.Secret, l.PairTimeout, nodes, MaxGuess)
	}
	return nil
}
