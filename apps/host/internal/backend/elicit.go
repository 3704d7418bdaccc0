package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

const (
	maxFields  = 16 // of one form
	maxRetries = 3  // of an answer that does not fit
)

// elicit asks people what the agent wants to know. The values of a form are asked one by one.
func (w *work) elicit(asking context.Context, r *acp.Request, e acp.Elicitation) error {
	form := e.Mode == acp.ElicitForm && e.RequestedSchema != nil && len(e.RequestedSchema.Properties) <= maxFields
	if !form && (e.Mode != acp.ElicitURL || e.URL == "") {
		r.Reply(nil, acp.Errorf(acp.CodeInvalidParams, "this client asks forms of at most %d values, and addresses to open", maxFields))
		return nil
	}
	w.asked++
	call := agent.Call{ID: fmt.Sprintf("%s_ask_%d", callID(), w.asked), Name: ToolPrefix + "ask", Cwd: w.turn.Cwd}
	if known := w.script.calls[e.ToolCallID]; known != nil {
		call.ID = known.id
	}
	w.waiting.Go(func() {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		stop := context.AfterFunc(asking, cancel)
		defer stop()
		q := asker{ctx: ctx, people: w.turn.People, call: call, agent: w.definition.title()}
		if form {
			r.Reply(q.form(e), nil)
		} else {
			r.Reply(q.address(e), nil)
		}
	})
	return nil
}

// asker asks people the questions of one elicitation.
type asker struct {
	ctx    context.Context
	people agent.People
	call   agent.Call
	agent  string
}

// ask asks one question; outcome is acp.ElicitAccept if it was answered.
func (a asker) ask(text string, choices []string) (answer, outcome string) {
	if a.people == nil {
		return "", acp.ElicitCancel
	}
	if len(choices) > agent.MaxChoices {
		text += "\nPossible answers: " + clip(strings.Join(choices, ", "), 2048)
		choices = nil
	}
	reply, err := a.people.Question(a.ctx, a.call, agent.Question{Text: clip(text, 4096), Choices: choices})
	switch {
	case err != nil || a.ctx.Err() != nil:
		return "", acp.ElicitCancel
	case reply.Outcome == agent.Answered:
		return strings.TrimSpace(reply.Answer), acp.ElicitAccept
	case reply.Outcome == agent.Skipped:
		return "", acp.ElicitDecline
	}
	return "", acp.ElicitCancel
}

const (
	opened  = "I opened it"
	decline = "Decline"
)

// address asks people to open an address, which is shown in full and never opened by itself.
func (a asker) address(e acp.Elicitation) acp.ElicitationResponse {
	answer, outcome := a.ask(fmt.Sprintf("%s asks you to open an address: %s\n%s", a.agent, e.Message, e.URL), []string{opened, decline})
	if outcome == acp.ElicitAccept && answer != opened {
		outcome = acp.ElicitDecline
	}
	return acp.ElicitationResponse{Action: outcome}
}

// form asks for the values of a form.
func (a asker) form(e acp.Elicitation) acp.ElicitationResponse {
	names := slices.Sorted(maps.Keys(e.RequestedSchema.Properties))
	values := map[string]json.RawMessage{}
	for i, name := range names {
		var field acp.FormField
		if exactjson.Unmarshal(e.RequestedSchema.Properties[name], &field) != nil {
			return acp.ElicitationResponse{Action: acp.ElicitCancel}
		}
		text := e.Message
		if len(names) > 1 {
			text = fmt.Sprintf("%s (%d of %d)", text, i+1, len(names))
		}
		value, outcome := a.field(text, name, field, slices.Contains(e.RequestedSchema.Required, name))
		if outcome != acp.ElicitAccept {
			return acp.ElicitationResponse{Action: outcome}
		}
		if value != nil {
			values[name] = value
		}
	}
	return acp.ElicitationResponse{Action: acp.ElicitAccept, Content: values}
}

// field asks for one value; nil leaves it out.
func (a asker) field(text, name string, field acp.FormField, required bool) (json.RawMessage, string) {
	label := name
	if field.Title != "" {
		label = field.Title
	}
	text += "\n" + label
	if field.Description != "" {
		text += ": " + field.Description
	}
	if len(field.Default) > 0 {
		text += fmt.Sprintf("\nDefault, if you skip: %s", field.Default)
	}
	wrong := ""
	for range maxRetries {
		answer, outcome := a.ask(text+wrong, choicesOf(field))
		if outcome == acp.ElicitDecline && (len(field.Default) > 0 || !required) {
			return field.Default, acp.ElicitAccept
		}
		if outcome != acp.ElicitAccept {
			return nil, outcome
		}
		value, err := valueOf(field, answer)
		if err == nil {
			return value, acp.ElicitAccept
		}
		wrong = fmt.Sprintf("\nThe last answer does not fit: %v.", err)
	}
	return nil, acp.ElicitDecline
}

// options returns the values of a field that has some to choose from, with their names.
func options(field acp.FormField) (all []acp.EnumOption) {
	values, named := field.Enum, field.OneOf
	if field.Items != nil {
		values, named = field.Items.Enum, field.Items.AnyOf
	}
	for _, value := range values {
		all = append(all, acp.EnumOption{Const: value, Title: value})
	}
	return append(all, named...)
}

func choicesOf(field acp.FormField) (choices []string) {
	if field.Type == "boolean" {
		return []string{"yes", "no"}
	}
	if field.Type == "array" {
		return nil // several may be named
	}
	for _, option := range options(field) {
		choices = append(choices, option.Title)
	}
	return choices
}

// valueOf turns an answer into the value of a field. The error is for the person who answered.
func valueOf(field acp.FormField, answer string) (json.RawMessage, error) {
	switch field.Type {
	case "boolean":
		switch strings.ToLower(answer) {
		case "yes", "true", "y":
			return json.RawMessage("true"), nil
		case "no", "false", "n":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("answer yes or no")
	case "integer", "number":
		return numberOf(field, answer)
	case "array":
		var values []string
		for part := range strings.SplitSeq(answer, ",") {
			value, err := optionOf(field, strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
		return asObject(values), nil
	}
	value, err := optionOf(field, answer)
	switch {
	case err != nil:
		return nil, err
	case field.MinLength != nil && len([]rune(value)) < *field.MinLength:
		return nil, fmt.Errorf("it needs at least %d characters", *field.MinLength)
	case field.MaxLength != nil && len([]rune(value)) > *field.MaxLength:
		return nil, fmt.Errorf("it may have at most %d characters", *field.MaxLength)
	}
	return asObject(value), nil
}

func numberOf(field acp.FormField, answer string) (json.RawMessage, error) {
	n, err := strconv.ParseFloat(answer, 64)
	switch {
	case err != nil || field.Type == "integer" && n != float64(int64(n)):
		return nil, fmt.Errorf("it must be a number (%s)", field.Type)
	case field.Minimum != nil && n < *field.Minimum || field.Maximum != nil && n > *field.Maximum:
		return nil, errors.New("the number is out of range")
	}
	return asObject(n), nil
}

// optionOf returns the value that an answer names; any answer where there is nothing to choose.
func optionOf(field acp.FormField, answer string) (string, error) {
	all := options(field)
	if len(all) == 0 {
		return answer, nil
	}
	for _, option := range all {
		if answer == option.Title || answer == option.Const {
			return option.Const, nil
		}
	}
	return "", fmt.Errorf("%.80q is not one of the possible answers", answer)
}
