package queue_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func prompts(keys ...string) (waiting []session.QueuedPrompt) {
	for _, key := range keys {
		waiting = append(waiting, session.QueuedPrompt{ClientKey: key, Text: key})
	}
	return waiting
}

func TestEditRefuses(t *testing.T) {
	both := []string{"qc", "qa"}
	for name, c := range map[string]struct {
		request api.EditQueueRequest
		kind    api.Kind
		says    string
	}{
		"another queue": {api.EditQueueRequest{Expected: []string{"qa"}}, api.KindConflict, "changed in the meantime"},
		"no such":       {api.EditQueueRequest{Expected: both, Items: []api.QueueItem{{ClientKey: "no"}}}, api.KindNotFound, "is waiting"},
		"one twice":     {api.EditQueueRequest{Expected: both, Items: []api.QueueItem{{ClientKey: "qa"}, {ClientKey: "qa"}}}, api.KindBadRequest, "twice"},
		"no mode":       {api.EditQueueRequest{Expected: both, Items: []api.QueueItem{{ClientKey: "qa", Mode: "shout"}}}, api.KindBadRequest, "follow_up"},
		"too long":      {api.EditQueueRequest{Expected: both, Items: []api.QueueItem{{ClientKey: "qa", Text: strings.Repeat("x", api.MaxPrompt+1)}}}, api.KindTooLarge, "file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := queue.Edit(prompts("qc", "qa"), queue.Editor{ClientID: "cli_y", MayApprove: true, Most: api.ModeAuto}, c.request)
			var told *api.Error
			if !errors.As(err, &told) || told.Kind != c.kind || !strings.Contains(told.Message, c.says) {
				t.Errorf("%v, want kind %d with %q", err, c.kind, c.says)
			}
		})
	}
}

func TestEditLeavesTheQueueAlone(t *testing.T) {
	waiting := prompts("qa", "qb", "qc")
	edited, removed, err := queue.Edit(waiting, queue.Editor{Most: api.ModeAsk}, api.EditQueueRequest{
		Expected: queue.Keys(waiting), Items: []api.QueueItem{{ClientKey: "qc", Text: "changed"}, {ClientKey: "qa"}},
	})
	if err != nil || !slices.Equal(queue.Keys(edited), []string{"qc", "qa"}) || !slices.Equal(removed, []string{"qb"}) || edited[0].Text != "changed" {
		t.Errorf("%+v, removed %q, %v", edited, removed, err)
	}
	if waiting[0].Text != "qa" || waiting[2].Text != "qc" || waiting[2].MaxMode != "" {
		t.Errorf("what was given is %+v now", waiting)
	}
}
