package editors

import (
	"strconv"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// answersTo returns the answers to an approval as editors show them.
func answersTo(a api.Approval) []acp.PermissionOption {
	offered := a.Options
	if len(offered) == 0 {
		offered = []api.Decision{api.DecisionAllow, api.DecisionDeny}
	}
	options := []acp.PermissionOption{}
	for _, decision := range offered {
		if name, kind := answerTo(a, decision); name != "" {
			options = append(options, acp.PermissionOption{ID: string(decision), Name: name, Kind: kind})
		}
	}
	return options
}

// answerTo returns the name and kind of one answer: "" if it is unknown.
func answerTo(a api.Approval, decision api.Decision) (name, kind string) {
	switch decision {
	case api.DecisionAllow:
		return "Allow", acp.AllowOnce
	case api.DecisionAlways:
		return "Always allow in this project", acp.AllowAlways
	case api.DecisionDeny:
		return "Deny", acp.RejectOnce
	case api.DecisionStop:
		return "Deny and stop", acp.RejectOnce
	}
	for i, choice := range a.Choices {
		if choice.Decision == decision {
			return choiceName(choice, i), choiceKind(choice.Kind)
		}
	}
	return "", ""
}

// choiceName returns the name that another agent gives its answer, and a number if it gives none.
func choiceName(choice api.ApprovalChoice, index int) string {
	if name := visible.Text(choice.Name); name != "" {
		return name
	}
	return "Answer " + strconv.Itoa(index+1)
}

// choiceKind returns a kind that editors know. One that they do not could be anything: it is not
// shown as a refusal.
func choiceKind(kind string) string {
	switch kind {
	case acp.AllowAlways, acp.RejectOnce, acp.RejectAlways:
		return kind
	}
	return acp.AllowOnce
}

// shown returns what is decided on.
func (o *open) shown(a api.Approval) []acp.ToolContent {
	content := []acp.ToolContent{}
	if detail := visible.Text(a.Detail); a.IsDiff {
		content = append(content, o.view.diff(detail)...)
	} else if detail != "" {
		content = append(content, acp.Shown(acp.Text(fenced("", detail))))
	}
	if a.Reason != "" {
		content = append(content, acp.Shown(acp.Text(a.Reason)))
	}
	return content
}
