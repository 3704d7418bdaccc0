package backend

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// MaxOptions is how many answers a permission request may offer.
const MaxOptions = 16

// permission asks the gate about a call. The call is in the log before anyone sees it.
func (w *work) permission(ctx, asking context.Context, r *acp.Request, p acp.PermissionRequest) error {
	if p.ToolCall.ID == "" || len(p.Options) == 0 || len(p.Options) > MaxOptions {
		r.Reply(nil, acp.Errorf(acp.CodeInvalidParams, "a permission request needs a tool call, and 1 to %d options", MaxOptions))
		return nil
	}
	change := p.ToolCall
	change.Status = "" // asking about a call is neither its begin nor its end
	if known := w.script.calls[change.ID]; known == nil || !known.ended {
		if err := w.script.tool(ctx, change); err != nil {
			return err
		}
	}
	call := w.script.calls[change.ID]
	if !call.logged && !call.ended {
		if err := w.script.flush(ctx); err != nil {
			return err
		}
	}
	about, what := call.asked(w.turn.Cwd, p)
	w.waiting.Go(func() {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		stop := context.AfterFunc(asking, cancel)
		defer stop()
		decision, err := w.turn.Gate.Ask(ctx, about, what)
		if err != nil && decision == "" {
			decision = api.DecisionDeny
		}
		if ctx.Err() != nil {
			decision = api.DecisionCancelled
		}
		r.Reply(chosen(decision, p.Options), nil)
	})
	return nil
}

// chosen is the answer to the agent. What a rule or a mode allows is allowed once only: what
// lasts is kept by scorel's rules, or chosen by a person.
func chosen(decision api.Decision, options []acp.PermissionOption) acp.PermissionResponse {
	if i, ok := decision.Choice(); ok && i < len(options) {
		return acp.Selected(options[i].ID)
	}
	var kinds []string
	switch decision {
	case api.DecisionAllow, api.DecisionAlways:
		kinds = []string{acp.AllowOnce, acp.AllowAlways}
	case api.DecisionDeny:
		kinds = []string{acp.RejectOnce, acp.RejectAlways}
	}
	for _, kind := range kinds {
		for _, option := range options {
			if option.Kind == kind {
				return acp.Selected(option.ID)
			}
		}
	}
	return acp.Cancelled()
}

// asked describes a call to the gate: as one of the tools that rules are about where it is one,
// and with the agent's own answers.
func (c *toolCall) asked(cwd string, p acp.PermissionRequest) (agent.Call, agent.Description) {
	call := agent.Call{ID: c.id, Name: c.name(), Arguments: c.arguments(), Cwd: cwd}
	what := agent.Description{Title: oneLine(c.acp.Title), Foreign: true}
	var diffs []string
	for _, content := range c.acp.Content {
		if content.Type == acp.ToolContentDiff {
			what.Paths = append(what.Paths, content.Path)
			diffs = append(diffs, diffText(content))
		}
	}
	switch command := commandOf(c.acp.RawInput); {
	case c.acp.Kind == acp.ToolExecute && command != "":
		call.Name, what.Command, what.Detail = "bash", command, command
		call.Arguments = asObject(map[string]string{"command": command})
	case c.acp.Kind == acp.ToolEdit && len(diffs) > 0:
		call.Name, what.Detail, what.IsDiff = "patch", strings.Join(diffs, "\n"), true
		call.Arguments = asObject(map[string]string{"path": what.Paths[0]})
		what.As = []string{"write_file"} // which of the two it is like is not known
	default:
		what.Detail, what.As = c.shownDetail(), c.ruledAs()
		for _, location := range c.acp.Locations[:min(len(c.acp.Locations), 100)] {
			what.Paths = append(what.Paths, location.Path)
		}
	}
	switch c.acp.Kind {
	case acp.ToolSwitchMode, acp.ToolDelete, acp.ToolMove: // no edits, which modes allow
		what.Insist = true
	}
	if what.Title == "" {
		what.Title = call.Name
	}
	for i, option := range p.Options {
		what.Choices = append(what.Choices, api.ApprovalChoice{Decision: api.Choice(i), Name: clip(oneLine(option.Name), 512), Kind: clip(option.Kind, 64)})
	}
	return call, what
}

// ruledAs returns the tools whose rules are about a call that is none of scorel's own.
func (c *toolCall) ruledAs() []string {
	switch c.acp.Kind {
	case acp.ToolEdit, acp.ToolDelete, acp.ToolMove:
		return []string{"patch", "write_file"}
	case acp.ToolRead:
		return []string{"read_file"}
	}
	return nil
}

// shownDetail is all that is known of a call.
func (c *toolCall) shownDetail() string {
	parts := []string{contentText(c.acp.Content)}
	if input := storable(c.acp.RawInput); input != nil && string(input) != "{}" {
		parts = append(parts, string(input))
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// commandOf returns the command line of a call's input, whose form is the vendor's; "" if there
// is none.
func commandOf(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "cmd"} {
		var line string
		if json.Unmarshal(fields[name], &line) == nil && line != "" {
			return line
		}
		var argv []string
		if json.Unmarshal(fields[name], &argv) == nil && len(argv) > 0 {
			return commandLine(argv)
		}
	}
	return ""
}

// commandLine joins arguments as a shell reads them. A shell's own script is the command.
func commandLine(argv []string) string {
	if len(argv) == 3 && (argv[1] == "-c" || argv[1] == "-lc") && strings.HasSuffix(argv[0], "sh") {
		return argv[2]
	}
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = arg
		if arg == "" || strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-") != "" {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func oneLine(text string) string { return clip(strings.Join(strings.Fields(text), " "), 1024) }
