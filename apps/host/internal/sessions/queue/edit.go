package queue

import (
	"cmp"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Editor describes who edits a queue.
type Editor struct {
	ClientID   string
	MayApprove bool     // their changes may grant approvals
	Most       api.Mode // the highest mode in which their prompts run
}

// Matches reports whether a queue equals the result of applying the items.
func Matches(waiting []session.QueuedPrompt, items []api.QueueItem) bool {
	return slices.EqualFunc(waiting, items, func(q session.QueuedPrompt, item api.QueueItem) bool {
		mode, err := Mode(item.Mode)
		return err == nil && q.ClientKey == item.ClientKey && (item.Text == "" || item.Text == q.Text) && (item.Mode == "" || mode == q.Mode) &&
			!hasAny(q.Content, item.DropImages)
	})
}

// Edit returns the prompts of the queue that a request names, in that order. removed are the
// keys of the others. A prompt with changed text belongs to by from then on: it keeps its
// approvals only if by may grant them, and runs in no higher mode than by's. The error is an
// *api.Error: conflict if the queue is not the expected one, not_found, bad_request or
// too_large.
func Edit(waiting []session.QueuedPrompt, by Editor, r api.EditQueueRequest) (edited []session.QueuedPrompt, removed []string, err error) {
	if !slices.Equal(Keys(waiting), r.Expected) {
		return nil, nil, api.Errorf(api.KindConflict, "the queue was changed in the meantime: review it, then try again")
	}
	edited = make([]session.QueuedPrompt, 0, len(r.Items))
	for _, item := range r.Items {
		prompt, err := change(waiting, item, by)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(Keys(edited), item.ClientKey) {
			return nil, nil, api.Errorf(api.KindBadRequest, "the prompt %.64q occurs twice", item.ClientKey)
		}
		edited = append(edited, prompt)
	}
	if size := Size(edited); size > api.MaxQueueBytes {
		return nil, nil, api.Errorf(api.KindTooLarge, "the queued prompts would have %d bytes, the limit is %d: put the text into a file and name the file", size, api.MaxQueueBytes)
	}
	kept := Keys(edited)
	removed = slices.DeleteFunc(Keys(waiting), func(key string) bool { return slices.Contains(kept, key) })
	return edited, removed, nil
}

// change returns a waiting prompt as an item changes it.
func change(waiting []session.QueuedPrompt, item api.QueueItem, by Editor) (session.QueuedPrompt, error) {
	i := slices.IndexFunc(waiting, func(q session.QueuedPrompt) bool { return q.ClientKey == item.ClientKey })
	if i < 0 {
		return session.QueuedPrompt{}, api.Errorf(api.KindNotFound, "no prompt %.64q is waiting in this session", item.ClientKey)
	}
	prompt := waiting[i]
	if item.Text != "" && item.Text != prompt.Text {
		if err := checkText(item.Text, false); err != nil {
			return prompt, err
		}
		prompt.Text, prompt.Content = item.Text, retext(prompt.Content, item.Text)
		prompt.MaxMode = string(permission.Lower(by.Most, cmp.Or(api.Mode(prompt.MaxMode), api.ModeBypass)))
		if !by.MayApprove {
			prompt.AllowAll, prompt.AllowRules = false, nil
		}
	}
	if len(item.DropImages) > 0 {
		if prompt.Content = without(prompt.Content, item.DropImages); prompt.Content == nil && prompt.Text == "" {
			return prompt, api.Errorf(api.KindBadRequest, "nothing would be left of the prompt %.64q: remove it from the queue instead", item.ClientKey)
		}
	}
	mode, err := Mode(item.Mode)
	if item.Mode != "" {
		prompt.Mode = mode
	}
	return prompt, err
}
