package agent

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// callIDs are the ids of the calls of a path. Some servers count calls from 0 in every
// answer, so an id that is already used gets a number after it.
type callIDs struct {
	taken map[string]bool
	next  map[string]int // id -> the first number that may be free after it
}

func newCallIDs() callIDs { return callIDs{map[string]bool{}, map[string]int{}} }

// take returns id, or it with the first number from 2 that is free.
func (c callIDs) take(id string) string {
	free := id
	for n := max(2, c.next[id]); c.taken[free]; n++ {
		free = fmt.Sprintf("%s_%d", id, n)
		c.next[id] = n + 1
	}
	c.taken[free] = true
	return free
}

// note takes the ids of calls as they are.
func (c callIDs) note(content session.Content) {
	for i := range content {
		if content[i].Type == session.BlockToolCall {
			c.taken[content[i].ID] = true
		}
	}
}
