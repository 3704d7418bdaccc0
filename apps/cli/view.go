package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// notices is the part of both views that prints to standard error.
type notices struct {
	stderr io.Writer
	asker  *terminal.Asker // nil if no one can be asked
}

func (n notices) Notice(text string) { fmt.Fprintln(n.stderr, "scorel: "+printable(text)) }

// Decide implements follow.View. If no one can be asked, the answer is no.
func (n notices) Decide(ctx context.Context, approval api.Approval) (follow.Verdict, error) {
	if n.asker == nil {
		fmt.Fprintf(n.stderr, "scorel: denied because it needs approval and there is no terminal (--yes approves everything, --yes-to RULE some calls): %s\n", printable(visible.Text(approval.Title)))
		return follow.Verdict{Decision: api.DecisionDeny, Unattended: true}, nil
	}
	question := fmt.Sprintf("\n%s wants to run in %s:\n  %s\n%s%s%s",
		printable(approval.ToolName), printable(visible.Text(approval.Cwd)), printable(visible.Text(approval.Title)), detail(approval), risk(approval), asks(approval))
	line, err := n.asker.Line(ctx, question+" "+choices(approval)+" ")
	if err != nil {
		return follow.Verdict{Decision: api.DecisionDeny}, err
	}
	return verdictOf(line, approval), nil
}

// Answer implements follow.View. If no one can be asked, it waits for another entry.
func (n notices) Answer(ctx context.Context, question api.Question) (follow.Reply, error) {
	if n.asker == nil {
		who := "the agent has a question"
		if question.Server != "" {
			who = "the MCP server " + printable(question.Server) + " has a question"
		}
		fmt.Fprintf(n.stderr, "scorel: %s, which another client must answer because there is no terminal: %s\n", who, printable(question.Question))
		return follow.Reply{}, nil
	}
	who, skip := "The agent asks:", "let the agent decide"
	if question.Server != "" {
		who, skip = "The MCP server "+printable(question.Server)+" asks, and receives the answer (enter no passwords or keys):", "decline"
	}
	text := "\n" + who + "\n  " + strings.ReplaceAll(printableLines(question.Question), "\n", "\n  ") + "\n"
	hint := "Your answer, or nothing to " + skip + ":"
	for i, choice := range question.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, printable(choice))
		hint = "A number, another answer, or nothing to " + skip + ":"
	}
	line, err := n.asker.Line(ctx, text+hint+" ")
	return replyOf(line, question), err
}

// replyOf parses the answer to a question: the number of a choice, or text.
func replyOf(line string, question api.Question) follow.Reply {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(question.Choices) {
		line = question.Choices[n-1]
	}
	return follow.Reply{Answer: line, Skip: line == ""}
}

// risk describes what to look at.
func risk(approval api.Approval) string {
	if approval.Risk == nil {
		return ""
	}
	text := "  risk " + printable(string(approval.Risk.Level))
	if len(approval.Risk.Reasons) > 0 {
		text += ": " + printable(strings.Join(approval.Risk.Reasons, "; "))
	}
	text += "\n"
	for _, rule := range approval.ProposedRules {
		text += "  \"always\" allows " + printable(rule) + "\n"
	}
	return text
}

// asks ends a question: with the answers of the agent that asks, if it has its own.
func asks(approval api.Approval) string {
	if len(approval.Choices) == 0 {
		return "Allow?"
	}
	text := ""
	for i, choice := range approval.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, printable(choice.Name))
	}
	return text
}

// choices lists the possible answers; everything else means no.
func choices(approval api.Approval) string {
	if len(approval.Choices) > 0 {
		return "A number, y(es)/N(o)/s(top):"
	}
	list := "[y/N/n TEXT to the agent]"
	if len(approval.Options) > 0 {
		list = "[y(es)/N(o)/n TEXT to the agent/s(top)]"
	}
	if slices.Contains(approval.Options, api.DecisionAlways) {
		list = "[y(es)/a(lways)/N(o)/n TEXT to the agent/s(top)]"
	}
	return list
}

// verdictOf parses an answer. Text after a no is feedback for the agent.
func verdictOf(line string, approval api.Approval) follow.Verdict {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	first, rest, _ := strings.Cut(line, " ")
	if first = strings.ToLower(first); first == "n" || first == "no" {
		word := strings.TrimSpace(rest)
		if len(approval.Choices) > 0 { // that agent takes no feedback
			word = ""
		}
		return follow.Verdict{Decision: api.DecisionDeny, Feedback: strings.ToValidUTF8(word[:min(len(word), api.MaxFeedback)], "")}
	}
	return follow.Verdict{Decision: decisionOf(line, approval)}
}

func decisionOf(line string, approval api.Approval) api.Decision {
	decision := api.DecisionDeny
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(approval.Choices) {
		return approval.Choices[n-1].Decision
	}
	switch strings.ToLower(line) {
	case "y", "yes":
		return api.DecisionAllow
	case "a", "always":
		decision = api.DecisionAlways
	case "s", "stop":
		decision = api.DecisionStop
	}
	if !slices.Contains(approval.Options, decision) {
		return api.DecisionDeny
	}
	return decision
}

// detail shows everything that is decided on: a truncated part could be the one that
// matters.
func detail(approval api.Approval) string {
	if approval.Detail == "" || approval.Detail == approval.Title {
		return ""
	}
	return "  | " + strings.ReplaceAll(printableLines(visible.Text(approval.Detail)), "\n", "\n  | ") + "\n"
}

// textView prints the answer to standard output and the rest to standard error.
type textView struct {
	notices
	stdout    io.Writer
	steered   bool // standard output is a terminal
	open      bool // a line is incomplete
	failed    error
	subagents subagentLines
	steps     *progress
	asked     int // open approvals
}

var _ follow.View = (*textView)(nil)

// Event shows the progress of operations, unless that would interrupt an incomplete line of
// the answer or a question.
func (v *textView) Event(event api.EventEnvelope) {
	if line := v.subagents.line(event.Event); line != "" {
		v.steps.clear()
		fmt.Fprintln(v.stderr, line)
	}
	switch e := event.Event.(type) {
	case api.ApprovalRequested:
		v.asked++
		v.steps.clear()
	case api.ApprovalResolved:
		v.asked = max(v.asked-1, 0)
	case api.TurnStarted:
		v.asked = 0
	case api.ProcessChanged:
		if !v.open && v.asked == 0 && e.Process.Last.TargetType != session.ProcessAgent { // these have their own lines
			v.steps.show(e.Process)
		}
	}
}

// Notice starts a new line if the answer and the notice share a terminal.
func (v *textView) Notice(text string) {
	v.steps.clear()
	if v.open && v.steered {
		v.open = false
		v.print("\n")
	}
	v.notices.Notice(text)
}

func (v *textView) Text(piece string) {
	v.steps.clear()
	v.open = !strings.HasSuffix(piece, "\n")
	if v.steered {
		piece = printableLines(piece)
	}
	v.print(piece)
}

func (v *textView) EndMessage(broken bool) {
	if v.open {
		v.open = false
		v.print("\n")
	}
	if broken {
		v.Notice("ignore the answer above: the model starts again")
	}
}

func (v *textView) print(text string) {
	if _, err := io.WriteString(v.stdout, text); err != nil && v.failed == nil {
		v.failed = err
	}
}

func (v *textView) ToolCall(call session.Block) {
	v.steps.clear()
	fmt.Fprintln(v.stderr, callLine(call))
}

func (v *textView) ToolResult(result session.Message) {
	v.steps.clear()
	if result.IsError != nil && *result.IsError {
		fmt.Fprintf(v.stderr, "  failed: %s\n", printable(clip(result.Content.Plain(), 160)))
	}
}

// callLine formats a tool call on one line.
func callLine(call session.Block) string {
	return fmt.Sprintf("* %s %s", printable(call.Name), printable(clip(string(call.Arguments), 160)))
}

// jsonView prints every event as one line.
type jsonView struct {
	notices
	stdout io.Writer
	failed error
}

var _ follow.View = (*jsonView)(nil)

func (v *jsonView) Event(event api.EventEnvelope) {
	if err := printJSON(v.stdout, event); err != nil && v.failed == nil {
		v.failed = err
	}
}

func (v *jsonView) Text(string)                {}
func (v *jsonView) EndMessage(bool)            {}
func (v *jsonView) ToolCall(session.Block)     {}
func (v *jsonView) ToolResult(session.Message) {}
