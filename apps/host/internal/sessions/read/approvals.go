package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// WaitingCall is a call whose approval has no decision in the log.
type WaitingCall struct {
	api.Approval
	Prompt session.QueuedPrompt // the prompt of its turn, without the text
}

// approvalRecord decodes an entry of the log about an approval.
func approvalRecord(entry session.Entry) (record session.ApprovalRecord, ok bool) {
	if entry.Type != session.TypeCustom || entry.CustomType != session.CustomApproval {
		return record, false
	}
	custom, ok := entry.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil
}

// OpenApprovals returns the pending approvals by the id of their call.
func OpenApprovals(tree *session.Tree) map[string]WaitingCall {
	open := map[string]WaitingCall{}
	for _, entry := range tree.Entries() {
		record, ok := approvalRecord(entry)
		if !ok {
			continue
		}
		if record.Decision != "" {
			if w, waits := open[record.ToolCallID]; waits && w.ID == record.ApprovalID {
				delete(open, record.ToolCallID)
			}
			continue
		}
		var w WaitingCall
		if json.Unmarshal(record.Request, &w.Approval) == nil && record.Prompt != nil {
			w.Prompt = *record.Prompt
			open[record.ToolCallID] = w
		}
	}
	return open
}

// DeniedCall returns the denial of a call, which therefore cannot have started; false if the
// call was not denied.
func DeniedCall(tree *session.Tree, callID string) (w WaitingCall, denial session.ApprovalRecord, ok bool) {
	for _, entry := range sinceCall(tree, callID) {
		record, isApproval := approvalRecord(entry)
		switch {
		case !isApproval || record.ToolCallID != callID:
		case record.Decision == "":
			if json.Unmarshal(record.Request, &w.Approval) == nil && record.Prompt != nil {
				w.Prompt = *record.Prompt
			}
		case record.ApprovalID == w.ID && w.ID != "":
			denial, ok = record, record.Decision == string(api.DecisionDeny)
		}
	}
	return w, denial, ok
}

// Decided returns how an approval was answered; an *api.Error of KindNotFound if it was not.
func Decided(tree *session.Tree, id string) (session.ApprovalRecord, error) {
	for _, entry := range slices.Backward(tree.Entries()) {
		if record, ok := approvalRecord(entry); ok && record.ApprovalID == id && record.Decision != "" {
			return record, nil
		}
	}
	return session.ApprovalRecord{}, api.Errorf(api.KindNotFound, "unknown approval: its turn has ended")
}
