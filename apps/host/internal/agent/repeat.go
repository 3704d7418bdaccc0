package agent

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// maxSame is how often a call may give the same result before the next one asks.
const maxSame = 3

// repeats finds a model that goes in circles: it counts for each call how often
// it gave the same result. A call that changes something makes all others new,
// since they may give another result after it. The goroutine of the turn owns it.
type repeats struct{ seen map[[sha256.Size]byte]repeat }

type repeat struct {
	result [sha256.Size]byte
	times  int
}

// count returns how often this call gave the same result since something changed.
func (r *repeats) count(call session.Block) int { return r.seen[callKey(call)].times }

// note counts a result. After maxSame the count starts again: a person has allowed
// or refused the call, and is asked again only if the repetition continues.
func (r *repeats) note(call session.Block, result Result, writes bool) {
	key := callKey(call)
	before := r.seen[key]
	if writes || r.seen == nil {
		r.seen = map[[sha256.Size]byte]repeat{}
	}
	now := repeat{result: resultKey(result), times: 1}
	if before.times > 0 && before.times < maxSame && before.result == now.result {
		now.times = before.times + 1
	}
	r.seen[key] = now
}

func callKey(call session.Block) [sha256.Size]byte {
	return sha256.Sum256([]byte(call.Name + "\x00" + string(call.Arguments)))
}

func resultKey(result Result) [sha256.Size]byte {
	data, err := json.Marshal(result.Content)
	if err != nil { // content always encodes; two that did not would count as the same
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(data)
}
