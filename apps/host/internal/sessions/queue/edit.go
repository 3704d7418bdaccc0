package queue

import (
	"cmp"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Editor is who edits a queue.
type Editor struct {
	ClientID   string
	MayApprove bool     // what they write may bring approvals
	Most       api.Mode // the highest mode that prompts of theirs run in
}

// Matches tells whether a queue is what the items would make of it.
func Matches(waiting []session.QueuedPrompt, items []api.QueueItem) bool {
	return slices.EqualFunc(waiting, items, func(q session.QueuedPrompt, item api.QueueItem) bool {
		mode, err := Mode(item.Mode)
		return err == nil && q.ClientKey == item.ClientKey && (item.Text == "" || item.Text == q.Text) && (item.Mode == "" || mode == q.Mode)
	})
}

// Edit makes the queue of those of its prompts that a request names, in that order. removed
// are the keys of the others. A prompt whose text is changed is by's from then on: it keeps
// its approvals only if they may give some, and runs in no mode above their highest. The
// error is an *api.Error: conflict, where the queue is not what the request expects,
// not_found, bad_request or too_large.
func Edit(waiting []session.QueuedPrompt, by Editor, r api.EditQueueRequest) (edited []session.QueuedPrompt, removed []string, err error) {
	if !slices.Equal(Keys(waiting), r.Expected) {
		return nil, nil, api.Errorf(api.KindConflict, "the queue changed meanwhile: look at it again, then repeat this")
	}
	edited = make([]session.QueuedPrompt, 0, len(r.Items))
	for _, item := range r.Items {
		prompt, err := change(waiting, item, by)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(Keys(edited), item.ClientKey) {
			return nil, nil, api.Errorf(api.KindBadRequest, "the prompt %.64q is named twice", item.ClientKey)
		}
		edited = append(edited, prompt)
	}
	if size := Size(edited); size > api.MaxQueueBytes {
		return nil, nil, api.Errorf(api.KindTooLarge, "the prompts that wait would have %d bytes, the limit is %d: put the text into a file and name the file", size, api.MaxQueueBytes)
	}
	kept := Keys(edited)
	removed = slices.DeleteFunc(Keys(waiting), func(key string) bool { return slices.Contains(kept, key) })
	return edited, removed, nil
}

// change returns a waiting prompt as an item changes it.
func change(waiting []session.QueuedPrompt, item api.QueueItem, by Editor) (session.QueuedPrompt, error) {
	i := slices.IndexFunc(waiting, func(q session.QueuedPrompt) bool { return q.ClientKey == item.ClientKey })
	if i < 0 {
		return session.QueuedPrompt{}, api.Errorf(api.KindNotFound, "no prompt %.64q waits in this session", item.ClientKey)
	}
	prompt := waiting[i]
	if item.Text != "" && item.Text != prompt.Text {
		if err := CheckPrompt(api.SendPromptRequest{ClientKey: item.ClientKey, Text: item.Text}); err != nil {
			return prompt, err
		}
		prompt.Text = item.Text
		prompt.MaxMode = string(gate.Lower(by.Most, cmp.Or(api.Mode(prompt.MaxMode), api.ModeBypass)))
		if !by.MayApprove {
			prompt.AllowAll, prompt.AllowRules = false, nil
		}
	}
	mode, err := Mode(item.Mode)
	if item.Mode != "" {
		prompt.Mode = mode
	}
	return prompt, err
}
