package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Bounds of what a hook says, in bytes.
const (
	maxReason  = 2 << 10
	maxContext = 10 << 10
)

// exitDeny is the exit code with which a hook denies, as in Claude Code.
const exitDeny = 2

// answer is what a hook prints. The keys of Claude Code are accepted beside ours.
type answer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Context  string `json:"context"`

	Continue   *bool  `json:"continue"`
	StopReason string `json:"stopReason"`
	Specific   struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Context  string          `json:"additionalContext"`
		Updated  json.RawMessage `json:"updatedInput"`
		Request  struct {
			Behavior string          `json:"behavior"`
			Message  string          `json:"message"`
			Updated  json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
	AdditionalContext string `json:"additionalContext"`
}

// interpret says what the end of a run means for an event.
func interpret(event api.HookEvent, run ended) Result {
	out := bytes.TrimSpace(run.out)
	switch {
	case run.code == exitDeny:
		reason := cmp.Or(strings.TrimSpace(string(run.err)), "it gave no reason")
		return take(event, api.HookRefused, reason, "")
	case run.code != 0:
		return broken(withLast(fmt.Sprintf("it ended with exit code %d", run.code), run.err))
	case len(out) == 0:
		return Result{Outcome: api.HookNothing}
	case out[0] != '{':
		if event == api.HookSessionStart || event == api.HookPrompt {
			return take(event, api.HookNothing, "", string(out))
		}
		return Result{Outcome: api.HookNothing}
	}
	var a answer
	if err := exactjson.Unmarshal(out, &a); err != nil {
		return broken("it printed invalid JSON: " + err.Error())
	}
	return a.result(event)
}

func (a answer) result(event api.HookEvent) Result {
	reason := cmp.Or(a.Specific.Reason, a.Specific.Request.Message, a.Reason)
	context := cmp.Or(a.Specific.Context, a.AdditionalContext, a.Context)
	outcome := api.HookNothing
	for _, decision := range []string{a.Decision, a.Specific.Decision, a.Specific.Request.Behavior} {
		switch decision {
		case "", "allow", "approve", "defer": // a hook never allows
		case "deny", "block":
			outcome = api.HookRefused
		case "ask":
			if outcome != api.HookRefused {
				outcome = api.HookAsked
			}
		default:
			return broken(fmt.Sprintf("it answered with the unknown decision %.40q", decision))
		}
	}
	if a.Continue != nil && !*a.Continue {
		outcome, reason = api.HookRefused, cmp.Or(a.StopReason, reason)
	}
	if outcome == api.HookNothing && event == api.HookBeforeTool && (given(a.Specific.Updated) || given(a.Specific.Request.Updated)) {
		outcome, reason = api.HookAsked, "it wants other arguments for this call, and a hook cannot change them"
	}
	return take(event, outcome, reason, context)
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// take applies what the event allows. An answer that it does not allow is a fault of the
// hook, so that no one relies on it.
func take(event api.HookEvent, outcome api.HookOutcome, reason, context string) Result {
	r := Result{Outcome: outcome, Reason: clip(plain(reason), maxReason), Context: clip(plain(context), maxContext)}
	switch event {
	case api.HookBeforeTool:
	case api.HookAfterTool: // the call has run: the model reads why it should not have
		if outcome == api.HookRefused || outcome == api.HookAsked {
			r.Context = strings.TrimSpace(r.Reason + "\n" + r.Context)
			r.Outcome, r.Reason = api.HookNothing, ""
		}
	case api.HookPrompt:
		if outcome == api.HookAsked {
			return broken("it asked for a decision, which is only possible before a tool call")
		}
	case api.HookApproval:
		r.Context = ""
		if outcome == api.HookAsked { // a person is asked already
			r.Outcome = api.HookNothing
		}
	case api.HookSessionStart:
		if outcome != api.HookNothing {
			return broken("it denied or asked, which has no effect when a session starts")
		}
	default:
		if outcome != api.HookNothing || r.Context != "" {
			return broken(fmt.Sprintf("it answered with a decision or context, which has no effect at %s", event))
		}
	}
	if r.Outcome == api.HookNothing && r.Context != "" {
		r.Outcome = api.HookAdded
	}
	return r
}

func broken(text string) Result {
	return Result{Outcome: api.HookBroken, Reason: clip(plain(text), maxReason)}
}

// withLast adds the last line of the error output.
func withLast(text string, errors []byte) string {
	lines := strings.Split(strings.TrimSpace(string(errors)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return text + "; its last output was: " + firstLine(last, 200)
	}
	return text
}

// plain removes control characters, except for line breaks and tabs.
func plain(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
