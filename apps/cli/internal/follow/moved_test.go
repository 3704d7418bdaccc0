package follow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestASessionIsFollowed: the session moves while its turn is followed.
// Nothing is lost or repeated.
func TestASessionIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{4}, ends: client.MovedError(api.SessionMoved{ID: testSession})}
		h.follow = func(string) (string, error) { return "desk", nil }
		view, start := newRecorder(), time.Now()
		view.decide = func(context.Context, api.Approval) (Verdict, error) {
			return Verdict{Decision: api.DecisionAllow}, nil
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result.Text != "Done." || time.Since(start) != 0 {
			t.Fatalf("got %+v, %v", result, err)
		}
		if want := []string{"I will look.", "Done."}; !slices.Equal(view.messages, want) {
			t.Errorf("messages %q, want %q", view.messages, want)
		}
		for _, notice := range view.notices {
			if !strings.Contains(notice, "the session moved to desk; continuing there") {
				t.Errorf("notice %q", notice)
			}
		}
		if len(view.notices) != h.dials-1 || h.dials != 2 {
			t.Errorf("%d dials, notices %q", h.dials, view.notices)
		}
	})
}

// TestAnUnknownDeviceEndsTheRun: this machine is not paired with the device.
func TestAnUnknownDeviceEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unknown := errors.New("not paired")
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{4}, ends: client.MovedError(api.SessionMoved{ID: testSession})}
		h.follow = func(string) (string, error) { return "", unknown }
		if _, err := h.run(t.Context(), newRecorder()); !errors.Is(err, unknown) {
			t.Fatal(err)
		}
	})
}
