package relay

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
	// MaxGuess is the greatest chance of guessing a code that limits may leave.
	MaxGuess = 1e-6
)

// Guess is what guessing pairing codes can achieve within the lifetime of a code, by
// people who use up every limit.
type Guess struct {
	Attempts int64 // at a slot, in all
	Alone    int64 // those of one address
	// Secret is the chance to guess slot and secret of any code that is open, and so
	// to pair with a stranger. A slot is good for one guess at its secret: a wrong
	// one burns it.
	Secret float64
	// Slot is the chance that the slot of one given code is hit and lost, by everybody
	// together, SlotAlone that one address does it. That denies a pairing, no more:
	// its people make a new code.
	Slot, SlotAlone float64
}

// Guessing computes what limits leave to guessing on so many nodes, each of which
// counts by itself. As many codes count as open as there can be, all at once, which is
// the worst case: codes are made under the same limit as guesses.
func (l Limits) Guessing(nodes int) Guess {
	l = l.withDefaults()
	g := Guess{
		Attempts: int64(nodes) * l.AllPairs.within(l.PairTimeout),
		Alone:    int64(nodes) * min(l.Pairs.within(l.PairTimeout), l.AllPairs.within(l.PairTimeout)),
	}
	open := min(float64(g.Attempts), float64(nodes)*maxSlots, slotSpace)
	g.Secret = hit(float64(g.Attempts), open/slotSpace/secretSpace)
	g.Slot = hit(float64(g.Attempts), 1.0/slotSpace)
	g.SlotAlone = hit(float64(g.Alone), 1.0/slotSpace)
	return g
}

// hit is the chance of one success at least in n tries, exact for tiny chances too.
func hit(n, each float64) float64 { return -math.Expm1(n * math.Log1p(-each)) }

// within is how many tokens a full bucket gives in a time.
func (r Rate) within(d time.Duration) int64 { return int64(r.Burst) + int64(d/r.Every) }

// checkGuessing refuses limits under which codes could be guessed.
func (l Limits) checkGuessing(nodes int) error {
	g := l.Guessing(nodes)
	if g.Secret >= MaxGuess {
		return fmt.Errorf("relay: at these limits a pairing code is guessed with a chance of %.1e within its %s on %d nodes, and %.0e is too much: allow fewer attempts in AllPairs",
			g.Secret, l.PairTimeout, nodes, MaxGuess)
	}
	return nil
}
