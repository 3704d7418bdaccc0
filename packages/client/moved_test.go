package client

import (
	"errors"
	"fmt"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

func TestMovedTo(t *testing.T) {
	moved := MovedError(api.SessionMoved{ID: "s"})
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("x"), false}, {api.Errorf(api.KindNotFound, "x"), false},
		{moved, true}, {fmt.Errorf("sending: %w", moved), true},
	} {
		if _, ok := MovedTo(c.err); ok != c.want {
			t.Errorf("%v: %t", c.err, ok)
		}
	}
}

// TestTrail: chains of any length end, also back where they began, and circles do too.
func TestTrail(t *testing.T) {
	var trail Trail
	for _, device := range []string{"b", "c", "a"} {
		if err := trail.Add(device); err != nil {
			t.Error(device, err)
		}
	}
	if err := trail.Add("b"); !errors.Is(err, ErrCircle) {
		t.Error(err)
	}
	trail.Found()
	if err := trail.Add("b"); err != nil {
		t.Error(err)
	}
}
