package editors

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// agentOption begins the ids of options that are another program's: those of scorel have none.
const agentOption = "agent."

// options returns the options of the session: scorel's, and those of another program that works in
// it instead of the model of scorel's own agent.
func (o *open) options(ctx context.Context, info api.HostInfo) []acp.ConfigOption {
	summary := o.current()
	all := optionsOf(summary, info)
	if summary.Backend == "" {
		return all
	}
	all = all[:1] // permissions
	response, err := do(ctx, o.s, api.GetBackend, api.GetBackendRequest{SessionID: o.id})
	if err != nil { // an older host
		o.s.cfg.Logger.Warn("asking for the options of the backend", "error", err)
	}
	for _, option := range response.Options {
		var choices []acp.ConfigChoice
		for _, c := range option.Choices {
			choices = append(choices, acp.ConfigChoice{Value: c.Value, Name: c.Name, Description: c.Description})
		}
		category := option.Category
		if category == acp.CategoryMode { // that of scorel is what editors show as the mode
			category = ""
		}
		all = append(all, acp.Select(agentOption+option.ID, option.Name, category, option.Value, choices...))
	}
	return all
}

// sendOptions sends the options after a change.
func (o *open) sendOptions() {
	if info, err := o.s.hostInfo(o.ctx); err == nil {
		o.send(acp.Update{Kind: acp.UpdateOptions, Options: o.options(o.ctx, info)})
	}
}

// setBackendOption changes an option of another program.
func (o *open) setBackendOption(ctx context.Context, option, value string) error {
	_, err := do(ctx, o.s, api.SetBackendOption, api.SetBackendOptionRequest{SessionID: o.id, Option: option, Value: value})
	return forEditor(err)
}

// backendCommands sends the commands of the other program that works in the session.
func (v *view) backendCommands() {
	response, err := do(v.o.ctx, v.o.s, api.GetBackend, api.GetBackendRequest{SessionID: v.o.id})
	if err != nil { // an older host
		v.o.s.cfg.Logger.Warn("asking for the commands of the backend", "error", err)
	}
	commands := []acp.Command{}
	for _, c := range response.Commands {
		command := acp.Command{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			command.Input = &acp.CommandInput{Hint: c.Hint}
		}
		commands = append(commands, command)
	}
	v.o.send(acp.Update{Kind: acp.UpdateCommands, Commands: commands})
}

// backendSaid notes what another program said besides messages and calls.
func (v *view) backendSaid(data json.RawMessage) {
	var record session.BackendRecord
	if json.Unmarshal(data, &record) != nil {
		return
	}
	if title, text := record.Describe(); title != "" {
		v.notice(strings.TrimSpace(title + "\n" + text))
	}
}

// backendKind returns what an entry says of another program; "" if it is about something else.
func backendKind(e session.Entry) session.BackendKind {
	c, ok := e.AsCustom()
	var record session.BackendRecord
	if !ok || c.CustomType != session.CustomBackend || json.Unmarshal(c.Data, &record) != nil {
		return ""
	}
	return record.Kind
}
