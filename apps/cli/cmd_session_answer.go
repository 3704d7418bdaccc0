package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// answerFlags are an answer that is given on the command line.
type answerFlags struct {
	to                       *target
	decision, feedback, text string
	skip, asJSON             bool
}

func (f *answerFlags) given() bool {
	return f.decision != "" || f.feedback != "" || f.text != "" || f.skip
}

func newSessionAnswer(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answer ID [REQUEST]",
		Short: "Answer the approvals and questions that wait in a session",
		Long: `Answer what waits in a session: all of it, or one REQUEST by its id, as "scorel inbox" shows
it. In a terminal, each request is shown in full and asked.

Without a terminal, --decision answers an approval: allow, always (also adds the proposed
rules), deny, or stop, which cancels the turn. --feedback tells the agent why it was denied.
--text answers a question, --skip lets the agent decide, or declines what an MCP server asks.
The first answer of anyone counts; the exit code is 1 if someone else was faster.`,
		Example: "  scorel inbox\n  scorel session answer ID\n  scorel session answer ID REQUEST --decision deny --feedback \"use the test database\"",
		Args:    argCount(1, 2, "the id of one session, and that of a request"),
	}
	f := &answerFlags{to: a.targetFlag(cmd)}
	addJSON(cmd, &f.asJSON)
	cmd.Flags().StringVar(&f.decision, "decision", "", "answer to an approval: allow, always, deny, stop, or choice:N for the Nth of an agent's own answers")
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "with --decision deny: feedback to the agent")
	cmd.Flags().StringVar(&f.text, "text", "", "answer to a question")
	cmd.Flags().BoolVar(&f.skip, "skip", false, "let the agent decide a question, or decline that of an MCP server")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(terminal.IsTerminal(a.stdin)); err != nil {
			return err
		}
		return answerRequests(cmd.Context(), a.console, f, args)
	}
	return cmd
}

// check reports flags that contradict each other.
func (f *answerFlags) check(person bool) error {
	_, isChoice := api.Decision(f.decision).Choice()
	decisions := []string{"", string(api.DecisionAllow), string(api.DecisionAlways), string(api.DecisionDeny), string(api.DecisionStop)}
	switch {
	case !isChoice && !slices.Contains(decisions, f.decision):
		return usagef("--decision %q is not a decision: give allow, always, deny, stop or choice:N", clip(f.decision, 40))
	case f.feedback != "" && f.decision != string(api.DecisionDeny):
		return usagef("--feedback needs --decision deny")
	case f.decision != "" && (f.text != "" || f.skip):
		return usagef("--decision answers an approval, --text and --skip a question: give one of them")
	case f.text != "" && f.skip:
		return usagef("--text and --skip: give one of them")
	case !f.given() && !person:
		return usagef("the answer is missing: give --decision, --text or --skip, or run this in a terminal")
	}
	return nil
}

func answerRequests(ctx context.Context, con console, f *answerFlags, args []string) error {
	c, err := f.to.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	waiting, err := requestsOf(ctx, c, api.ResyncEventsRequest{SessionID: args[0], Unattended: f.given()})
	if err != nil {
		return err
	}
	if waiting, err = selectRequests(waiting, args[1:], f.given()); err != nil {
		return err
	}
	view := notices{con.stderr, terminal.NewAsker(con.stdin, con.stderr)}
	for _, item := range waiting {
		if err := answerOne(ctx, con.stdout, c, f, view, item); err != nil {
			return err
		}
	}
	return nil
}

// errNoRequest reports that nothing waits for an answer.
var errNoRequest = errors.New("nothing waits")

// selectRequests returns the requests to answer. An answer from the command line is for one only.
func selectRequests(waiting []inboxItem, ids []string, single bool) ([]inboxItem, error) {
	if len(waiting) == 0 {
		return nil, sayf(errNoRequest, "nothing waits for an answer in this session: `scorel inbox` lists what needs you")
	}
	if len(ids) == 0 {
		if single && len(waiting) > 1 {
			return nil, usagef("%d requests wait in this session: give the id of one, as `scorel inbox` shows it", len(waiting))
		}
		return waiting, nil
	}
	i := slices.IndexFunc(waiting, func(item inboxItem) bool { return item.RequestID == ids[0] })
	if i < 0 {
		return nil, sayf(errNoRequest, "no request %s waits in this session: it may have been answered; `scorel inbox` lists what needs you", clip(ids[0], 60))
	}
	return waiting[i : i+1], nil
}

// answerOne answers a request with the flags, or asks the person at the terminal.
func answerOne(ctx context.Context, stdout io.Writer, c *client.Client, f *answerFlags, view notices, item inboxItem) error {
	if item.Approval != nil {
		verdict, err := f.verdict(ctx, view, *item.Approval)
		if err != nil {
			return err
		}
		return sendVerdict(ctx, stdout, c, f, item, verdict)
	}
	reply, err := f.reply(ctx, view, *item.Question)
	if err != nil {
		return err
	}
	got, err := client.Call(ctx, c, api.AnswerQuestion, api.AnswerQuestionRequest{
		SessionID: item.SessionID, QuestionID: item.RequestID, Answer: reply.Answer, Skip: reply.Skip,
	})
	if err != nil {
		return err
	}
	if !got.Won {
		return tooLate(follow.Told(got.AnsweredBy, got.Outcome, got.Answer))
	}
	return printDone(stdout, f.asJSON, got, "answered: %s", printable(clip(item.Question.Question, 80)))
}

func (f *answerFlags) verdict(ctx context.Context, view notices, approval api.Approval) (follow.Verdict, error) {
	decision := api.Decision(f.decision)
	switch {
	case !f.given():
		return view.Decide(ctx, approval)
	case decision == "":
		return follow.Verdict{}, usagef("%s is an approval: answer it with --decision", approval.ID)
	case len(approval.Choices) > 0 && (decision == api.DecisionAllow || decision == api.DecisionDeny): // one of the choices fits
	case len(approval.Options) > 0 && !slices.Contains(approval.Options, decision):
		return follow.Verdict{}, usagef("this approval cannot be answered with %s: give one of %s", decision, decisionNames(approval.Options))
	}
	return follow.Verdict{Decision: decision, Feedback: f.feedback}, nil
}

func (f *answerFlags) reply(ctx context.Context, view notices, question api.Question) (follow.Reply, error) {
	switch {
	case !f.given():
		return view.Answer(ctx, question)
	case f.decision != "":
		return follow.Reply{}, usagef("%s is a question: answer it with --text or --skip", question.ID)
	}
	return follow.Reply{Answer: f.text, Skip: f.skip}, nil
}

func decisionNames(options []api.Decision) string {
	names := make([]string, 0, len(options))
	for _, option := range options {
		names = append(names, string(option))
	}
	return strings.Join(names, ", ")
}

func sendVerdict(ctx context.Context, stdout io.Writer, c *client.Client, f *answerFlags, item inboxItem, verdict follow.Verdict) error {
	signature, err := f.to.signAnswer(item.SessionID, *item.Approval, verdict)
	if err != nil {
		return err
	}
	got, err := client.Call(ctx, c, api.AnswerApproval, api.AnswerApprovalRequest{
		SessionID: item.SessionID, ApprovalID: item.RequestID, Decision: verdict.Decision, Feedback: verdict.Feedback,
		Shown: item.Approval.Shown, Signature: signature,
	})
	if err != nil {
		return err
	}
	if !got.Won {
		return tooLate(follow.Beforehand(got))
	}
	return printDone(stdout, f.asJSON, got, "answered with %s: %s", got.Decision, printable(clip(item.Approval.Title, 80)))
}

// errTooLate reports that another answer counts.
var errTooLate = errors.New("another answer was faster")

func tooLate(what string) error { return sayf(errTooLate, "too late: %s", what) }
