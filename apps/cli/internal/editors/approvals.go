package editors

import (
	"slices"
	"strconv"
	"strings"

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
	if circumstances := circumstancesOf(a); circumstances != "" {
		content = append(content, acp.Shown(acp.Text(fenced("", circumstances))))
	}
	return content
}

// circumstancesOf returns what belongs to the decision besides the change or command: where it
// happens, why it is asked about, and the rules that "always" saves.
func circumstancesOf(a api.Approval) string {
	var lines []string
	if a.Cwd != "" {
		lines = append(lines, "Folder: "+a.Cwd)
	}
	// The risk often is the reason.
	if a.Reason != "" && (a.Risk == nil || !slices.Contains(a.Risk.Reasons, a.Reason)) {
		lines = append(lines, "Reason: "+a.Reason)
	}
	if a.Risk != nil {
		risk := "Risk: " + string(a.Risk.Level)
		if len(a.Risk.Reasons) > 0 {
			risk += " (" + strings.Join(a.Risk.Reasons, "; ") + ")"
		}
		lines = append(lines, risk)
	}
	for _, rule := range a.ProposedRules {
		lines = append(lines, "Always would allow: "+rule)
	}
	return visible.Text(strings.Join(lines, "\n"))
}
