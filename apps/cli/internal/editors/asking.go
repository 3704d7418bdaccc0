package editors

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// asking is an approval or a question that the editor was asked.
type asking struct{ cancel context.CancelFunc }

// questions asks the editor what waits for a person, and withdraws what does not wait any more.
func (v *view) questions() {
	waits := map[string]bool{}
	for _, approval := range v.live.Approvals {
		waits[approval.ID] = true
		v.ask(approval.ID, func(ctx context.Context) { v.o.askApproval(ctx, approval) })
	}
	for _, question := range v.live.Questions {
		waits[question.ID] = true
		v.ask(question.ID, func(ctx context.Context) { v.o.askQuestion(ctx, question) })
	}
	for id, a := range v.asked {
		if !waits[id] {
			a.cancel() // sends $/cancel_request, unless the editor has answered
			delete(v.asked, id)
		}
	}
}

func (v *view) ask(id string, run func(context.Context)) {
	if v.asked[id] != nil {
		return
	}
	ctx, cancel := context.WithCancel(v.o.ctx)
	v.asked[id] = &asking{cancel}
	v.o.work.Go(func() {
		defer cancel()
		run(ctx)
	})
}

// decided shows in the call who answered its approval, if that was someone else.
func (v *view) decided(e api.ApprovalResolved) {
	v.o.mu.Lock()
	approval, asked := v.o.answering[e.ApprovalID]
	own := v.o.answered[e.ApprovalID]
	delete(v.o.answering, e.ApprovalID)
	delete(v.o.answered, e.ApprovalID)
	v.o.mu.Unlock()
	if asked && !own {
		v.o.sayDecided(approval, e.Decision, e.DecidedBy)
	}
}

// sayDecided shows in a call that someone else answered its approval.
func (o *open) sayDecided(a api.Approval, decision api.Decision, by string) {
	words := map[api.Decision]string{api.DecisionAllow: "Allowed", api.DecisionAlways: "Always allowed", api.DecisionDeny: "Denied", api.DecisionStop: "Denied and stopped"}
	for _, choice := range a.Choices {
		words[choice.Decision] = "Answered with " + plain("\""+choice.Name+"\"")
	}
	word := words[decision]
	if word == "" {
		return // the turn was canceled
	}
	o.send(acp.Update{Kind: acp.UpdateToolChange, Tool: &acp.ToolCall{
		ID: a.ToolCallID, Content: []acp.ToolContent{acp.Shown(acp.Text(word + " on another device (" + plain(by) + ")."))},
	}})
}

func (o *open) askApproval(ctx context.Context, a api.Approval) {
	o.mu.Lock()
	o.answering[a.ID] = a
	o.mu.Unlock()
	request := acp.PermissionRequest{SessionID: o.id, Options: answersTo(a), ToolCall: acp.ToolCall{
		ID: a.ToolCallID, Title: plain(a.Title), Kind: kindOf(a.ToolName), Status: acp.ToolPending, Content: o.shown(a),
	}}
	var response acp.PermissionResponse
	err := o.s.conn.Call(ctx, acp.MethodRequestPermission, request, &response)
	chosen := response.Outcome.OptionID
	switch {
	case err != nil:
		o.noteUnanswered(ctx, "approval", err)
		return
	case response.Outcome.Outcome != acp.OutcomeSelected || !slices.ContainsFunc(request.Options, func(option acp.PermissionOption) bool { return option.ID == chosen }):
		return // the editor cancels the turn too; an unanswered request is never approved
	}
	o.answerApproval(ctx, a, api.Decision(chosen))
}

func (o *open) answerApproval(ctx context.Context, a api.Approval, decision api.Decision) {
	answer := api.AnswerApprovalRequest{SessionID: o.id, ApprovalID: a.ID, Decision: decision, Shown: a.Shown}
	if o.s.cfg.Sign != nil {
		signature, err := o.s.cfg.Sign(o.id, a, decision)
		if err != nil {
			o.s.cfg.Logger.Warn("an answer is not signed", "error", err)
		}
		answer.Signature = signature
	}
	o.mu.Lock()
	o.answered[a.ID] = true
	o.mu.Unlock()
	response, err := do(ctx, o.s, api.AnswerApproval, answer)
	if err == nil && response.Won {
		return
	}
	o.mu.Lock()
	delete(o.answered, a.ID)
	o.mu.Unlock()
	switch {
	case err == nil:
		o.sayDecided(a, response.Decision, response.DecidedBy)
	case ctx.Err() == nil:
		o.s.cfg.Logger.Warn("answering an approval", "error", err)
	}
}

func (o *open) noteUnanswered(ctx context.Context, what string, err error) {
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		o.s.cfg.Logger.Warn("the editor did not answer; another device can", "what", what, "error", err)
	}
}

// askQuestion asks a question of the agent or an MCP server: in a form where the editor has those,
// and otherwise as a choice. An open question without forms is answered on another device.
func (o *open) askQuestion(ctx context.Context, q api.Question) {
	if capable := o.s.capabilities().Elicitation; capable != nil && capable.Form != nil {
		o.askInForm(ctx, q)
		return
	}
	request := acp.PermissionRequest{SessionID: o.id, Options: []acp.PermissionOption{}, ToolCall: acp.ToolCall{
		ID: q.ToolCallID, Title: asker(q), Status: acp.ToolPending, Content: []acp.ToolContent{acp.Shown(acp.Text(plainBlock(q.Question)))},
	}}
	for i, choice := range q.Choices {
		request.Options = append(request.Options, acp.PermissionOption{ID: choiceID(i), Name: visible.Text(choice), Kind: acp.AllowOnce})
	}
	skip := "Let the agent decide"
	if q.Server != "" {
		skip = "Decline"
	}
	request.Options = append(request.Options, acp.PermissionOption{ID: "skip", Name: skip, Kind: acp.RejectOnce})
	var response acp.PermissionResponse
	if err := o.s.conn.Call(ctx, acp.MethodRequestPermission, request, &response); err != nil {
		o.noteUnanswered(ctx, "question", err)
		return
	}
	answer := api.AnswerQuestionRequest{SessionID: o.id, QuestionID: q.ID, Skip: response.Outcome.OptionID == "skip"}
	for i, choice := range q.Choices {
		if response.Outcome.OptionID == choiceID(i) {
			answer.Answer = choice
		}
	}
	if answer.Skip || answer.Answer != "" {
		o.answerQuestion(ctx, answer)
	}
}

// asker returns who asks: the agent, or an MCP server by its name.
func asker(q api.Question) string {
	if q.Server == "" {
		return "The agent asks"
	}
	return "The MCP server " + plain(q.Server) + " asks, and receives the answer (enter no passwords or keys)"
}

// asked returns what is asked. A question of an MCP server names it.
func asked(q api.Question) string {
	if q.Server == "" {
		return plainBlock(q.Question)
	}
	return asker(q) + ":\n\n" + plainBlock(q.Question)
}

func choiceID(i int) string { return "choice_" + string(rune('a'+i)) }

func (o *open) askInForm(ctx context.Context, q api.Question) {
	field := acp.FormField{Type: "string", Title: "Answer"}
	if len(q.Choices) > 0 {
		if field.Description = "Choose one, or leave it to the agent"; q.Server != "" {
			field.Description = "Choose one, or decline"
		}
		field.Enum = q.Choices
	}
	encoded, err := session.Encode(field)
	if err != nil {
		return
	}
	var response acp.ElicitationResponse
	err = o.s.conn.Call(ctx, acp.MethodCreateElicitation, acp.Elicitation{
		SessionID: o.id, ToolCallID: q.ToolCallID, Mode: acp.ElicitForm, Message: asked(q),
		RequestedSchema: &acp.FormSchema{Type: "object", Properties: map[string]json.RawMessage{"answer": encoded}, Required: []string{"answer"}},
	}, &response)
	if err != nil {
		o.noteUnanswered(ctx, "question", err)
		return
	}
	answer := api.AnswerQuestionRequest{SessionID: o.id, QuestionID: q.ID}
	switch response.Action {
	case acp.ElicitAccept:
		if json.Unmarshal(response.Content["answer"], &answer.Answer) != nil || answer.Answer == "" {
			return
		}
	case acp.ElicitDecline:
		answer.Skip = true
	default: // the question keeps waiting
		return
	}
	o.answerQuestion(ctx, answer)
}

func (o *open) answerQuestion(ctx context.Context, answer api.AnswerQuestionRequest) {
	if _, err := do(ctx, o.s, api.AnswerQuestion, answer); err != nil && ctx.Err() == nil {
		o.s.cfg.Logger.Warn("answering a question", "error", err)
	}
}
