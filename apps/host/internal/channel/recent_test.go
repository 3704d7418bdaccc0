package channel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// TestRecent: a process that is cut off while it catches up reads all of it again.
func TestRecent(t *testing.T) {
	var r channel.Recent
	if err := r.CatchUp(t.Context(), func(context.Context, string, string) error { return errors.New("it reads") }); err != nil {
		t.Errorf("a first connection: %v", err)
	}
	r.Add("a", "9")
	r.Add("b", "10") // a number, not a text
	r.Add("a", "8")
	if r.Last != "10" || !slices.Equal(r.Chats, []string{"b", "a"}) {
		t.Fatalf("got %+v", r)
	}
	cut := errors.New("cut off")
	var asked []string
	read := func(_ context.Context, chat, after string) error {
		asked = append(asked, chat+" after "+after)
		if r.Add(chat, "1"+after); r.Last != "10" {
			t.Errorf("while it reads, it has %s", r.Last)
		}
		if chat == "b" {
			return channel.ErrChatGone
		}
		return cut
	}
	if err := r.CatchUp(t.Context(), read); !errors.Is(err, cut) || r.Last != "10" {
		t.Errorf("cut off with %v at %s", err, r.Last)
	}
	cut = nil
	if err := r.CatchUp(t.Context(), read); err != nil || r.Last != "110" {
		t.Errorf("%v at %s", err, r.Last)
	}
	if want := []string{"b after 10", "a after 10", "b after 10", "a after 10"}; !slices.Equal(asked, want) {
		t.Errorf("it has read %q", asked)
	}
	for i := range 1000 {
		r.Add(fmt.Sprint(i), "5")
	}
	if len(r.Chats) > 100 || r.Chats[len(r.Chats)-1] != "999" {
		t.Errorf("%d chats are remembered", len(r.Chats))
	}
}
