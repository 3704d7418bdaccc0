package channel

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// maxRecent bounds the chats that are read after a lost connection.
const maxRecent = 64

// Recent is what a platform remembers to find messages that were written while it had no
// connection. It is a part of the stored position.
type Recent struct {
	Last  string   `json:"l,omitempty"` // id of the newest message that was taken
	Chats []string `json:"c,omitempty"` // in which the bot was addressed, the latest last

	newest string // message that CatchUp has read; "" outside of it
}

// Add remembers a message for the bot. The ids of messages are numbers that increase with time.
func (r *Recent) Add(chat, id string) {
	last := &r.Last
	if r.newest != "" {
		last = &r.newest
	}
	if CompareIDs(id, *last) > 0 {
		*last = id
	}
	r.Chats = append(slices.DeleteFunc(r.Chats, func(other string) bool { return other == chat }), chat)
	r.Chats = r.Chats[max(0, len(r.Chats)-maxRecent):]
}

// CatchUp calls read for each known chat, with the message after which it reads; read calls Add
// for what it finds. Last changes at the end only, so that a process which continues from a
// position stored meanwhile reads all of it again. Chats that are gone are left out.
func (r *Recent) CatchUp(ctx context.Context, read func(ctx context.Context, chat, after string) error) error {
	if r.Last == "" {
		return nil
	}
	r.newest = r.Last
	for _, chat := range slices.Clone(r.Chats) { // Add changes their order
		if err := read(ctx, chat, r.Last); err != nil && !errors.Is(err, ErrChatGone) {
			return err
		}
	}
	r.Last, r.newest = r.newest, ""
	return nil
}

// CompareIDs compares ids of messages, which are numbers.
func CompareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
