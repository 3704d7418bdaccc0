package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// WaitingQuestion is a question without an outcome in the log.
type WaitingQuestion struct {
	api.Question
	Prompt session.QueuedPrompt // the prompt of its turn, without the text
}

// AnsweredCall returns the finished question of a call, even if it ended without an answer: the
// result of the call is known then.
func AnsweredCall(tree *session.Tree, callID string) (w WaitingQuestion, reply agent.Reply, ok bool) {
	for _, entry := range sinceCall(tree, callID) {
		record, isQuestion := questionRecord(entry)
		switch {
		case !isQuestion || record.ToolCallID != callID:
		case record.Outcome == "":
			if json.Unmarshal(record.Request, &w.Question) == nil && record.Prompt != nil {
				w.Prompt = *record.Prompt
			}
		case record.QuestionID == w.ID && w.ID != "":
			reply = agent.Reply{Outcome: api.QuestionOutcome(record.Outcome), Answer: record.Answer, By: record.AnsweredBy}
			ok = reply.Outcome != api.OutcomeCancelled
		}
	}
	return w, reply, ok
}

// questionRecord decodes an entry of the log about a question.
func questionRecord(entry session.Entry) (record session.QuestionRecord, ok bool) {
	if entry.Type != session.TypeCustom || entry.CustomType != session.CustomQuestion {
		return record, false
	}
	custom, ok := entry.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil
}

// OpenQuestions returns the pending questions by the id of their call.
func OpenQuestions(tree *session.Tree) map[string]WaitingQuestion {
	open := map[string]WaitingQuestion{}
	for _, entry := range tree.Entries() {
		record, ok := questionRecord(entry)
		switch {
		case !ok:
		case record.Outcome != "":
			if open[record.ToolCallID].ID == record.QuestionID {
				delete(open, record.ToolCallID)
			}
		default:
			var w WaitingQuestion
			if json.Unmarshal(record.Request, &w.Question) == nil && record.Prompt != nil {
				w.Prompt = *record.Prompt
				open[record.ToolCallID] = w
			}
		}
	}
	return open
}

// AnsweredQuestion returns how a question ended; an *api.Error of KindNotFound if it did not.
func AnsweredQuestion(tree *session.Tree, id string) (session.QuestionRecord, error) {
	for _, entry := range slices.Backward(tree.Entries()) {
		if record, ok := questionRecord(entry); ok && record.QuestionID == id && record.Outcome != "" {
			return record, nil
		}
	}
	return session.QuestionRecord{}, api.Errorf(api.KindNotFound, "unknown question: its turn has ended")
}
