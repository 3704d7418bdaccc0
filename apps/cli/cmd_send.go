package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

type sendFlags struct {
	to                                *target
	session, project, model, thinking string
	yes, steer, asJSON                bool
	permit                            string // a mode
	yesTo                             []string
	begun                             string // id of the session that this command began
}

func newSend(a *app) *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send PROMPT",
		Short: "Send one prompt and follow the answer",
		Long: `Sends one prompt and prints the answer while it comes. Without --session it
begins a session in the project --project, which is this folder when left out.
PROMPT "-" reads the prompt from standard input.

A tool that changes something asks first, here when this is a terminal, and on
every other entry that watches. --yes allows all that this one prompt asks for,
--yes-to what a rule says. --mode sets how much the session may do without asking:
plan, ask, accept-edits, auto or bypass.

"/compact WORDS" compacts the session, as scorel session compact does; "/SKILL WORDS"
has the agent follow the skill of that name. Any other word behind a slash is just text.

A question of the agent is asked here too, and on every other entry that watches; no
flag answers it. Without a terminal, and with nobody else who watches, the question
is the answer: send the next prompt with --session.

A lost connection is made again for a minute; the host goes on meanwhile.`,
		Example: `  scorel send "what does this project do?"
  scorel send --session ID --yes "run the tests"
  scorel send --mode accept-edits --yes-to 'bash(go test *)' "fix the test"
  git diff | scorel send --json -
  scorel send --device dev_... --project /srv/site "is it up to date?"`,
		Args: argCount(1, 1, "one prompt, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.send(cmd.Context(), args[0], f) },
	}
	f.to = a.targetFlag(cmd)
	cmd.Flags().StringVar(&f.session, "session", "", "go on with the session that has this id")
	cmd.Flags().StringVar(&f.project, "project", "", "folder, or id of the project, to begin a session in")
	cmd.Flags().StringVar(&f.model, "model", "", "model, by its name in config.toml of the host")
	cmd.Flags().StringVar(&f.thinking, "thinking", "", "how much the model thinks from here on: off, minimal, low, medium, high, or configured for what config.toml says")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "allow everything that this prompt asks for")
	cmd.Flags().StringArrayVar(&f.yesTo, "yes-to", nil, "allow what this rule says, such as bash(go test *), for this prompt; may be given often")
	cmd.Flags().StringVar(&f.permit, "mode", "", "set the mode of the session: plan, ask, accept-edits, auto or bypass")
	cmd.Flags().BoolVar(&f.steer, "steer", false, "with --session: say it to the turn that runs, at its next step")
	addJSON(cmd, &f.asJSON)
	return cmd
}

func (f *sendFlags) mode() session.PromptMode {
	if f.steer {
		return session.ModeSteer
	}
	return ""
}

// turnError says that the prompt was taken and its turn did not end well.
type turnError struct{ message string }

func (e *turnError) Error() string { return e.message }

func (a *app) send(ctx context.Context, prompt string, f sendFlags) error {
	prepare, err := f.preparation()
	if err != nil {
		return err
	}
	text, asker, err := a.promptText(prompt)
	if err != nil {
		return err
	}
	if focus, ok := compactFocus(text); ok {
		if f.session == "" {
			return usagef("which session is to be compacted? Give --session ID")
		}
		return a.compact(ctx, f.to, f.session, focus, f.asJSON)
	}
	view, failed := a.view(f.asJSON, notices{a.stderr, asker})
	result, err := follow.Run(ctx, follow.Config{
		Dial: f.to.dial, Prepare: prepare, Lost: mayComeBack, After: link.RetryAfter, View: view,
		ClientKey: rand.Text(), Text: text, AllowAll: f.yes, AllowRules: f.yesTo, Mode: f.mode(),
		Unattended: asker == nil,
	})
	if err != nil {
		f.discard(ctx, err)
		return err
	}
	if err := a.printResult(result, f); err != nil {
		return err
	}
	return errors.Join(failed(), turnFailure(result))
}

// compactFocus tells whether a prompt is the command /compact, and what the summary is
// to look at.
func compactFocus(prompt string) (focus string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/compact")
	focus = strings.TrimSpace(rest)
	return focus, ok && (rest == "" || focus != rest)
}

// view returns what shows the turn, and what tells whether printing failed.
func (a *app) view(asJSON bool, n notices) (follow.View, func() error) {
	if asJSON {
		v := &jsonView{notices: n, stdout: a.stdout}
		return v, func() error { return v.failed }
	}
	v := &textView{notices: n, stdout: a.stdout, steered: terminal.IsTerminal(a.stdout), steps: newProgress(a.stderr, terminal.IsTerminal(a.stderr))}
	return v, func() error { return v.failed }
}

// promptText returns the prompt, and whom to ask about tools: nobody when standard
// input is no terminal or was the prompt.
func (a *app) promptText(prompt string) (text string, asker *terminal.Asker, err error) {
	if prompt != "-" {
		if terminal.IsTerminal(a.stdin) {
			asker = terminal.NewAsker(a.stdin, a.stderr)
		}
	} else {
		data, err := io.ReadAll(io.LimitReader(a.stdin, api.MaxPrompt+1))
		if err != nil {
			return "", nil, fmt.Errorf("reading the prompt from standard input: %w", err)
		}
		prompt = string(data)
	}
	switch {
	case strings.TrimSpace(prompt) == "":
		return "", nil, usagef("the prompt is empty: write something")
	case len(prompt) > api.MaxPrompt:
		return "", nil, usagef("the prompt is over the limit of %d bytes: put it into a file and name the file", api.MaxPrompt)
	case !utf8.ValidString(prompt): // JSON would change it without a word
		return "", nil, usagef("the prompt is not text in UTF-8: put it into a file and name the file, or convert it, as with iconv")
	}
	return prompt, asker, nil
}

// mayComeBack tells whether a lost connection is worth another try.
func mayComeBack(err error) bool { return exitCode(err) == ExitUnreachable }

// preparation makes what finds or begins the session. Its keys are drawn once, so
// that running it again begins no second session.
func (f *sendFlags) preparation() (func(context.Context, *client.Client) (string, error), error) {
	find, err := f.finding()
	if err != nil || f.permit == "" {
		return find, err
	}
	if !slices.Contains(api.Modes(), api.Mode(f.permit)) {
		return nil, usagef("--mode %q is no mode: give one of %s", f.permit, api.ModeNames())
	}
	return func(ctx context.Context, c *client.Client) (string, error) {
		id, err := find(ctx, c)
		if err != nil {
			return "", err
		}
		_, err = client.Call[api.Empty](ctx, c, "set_mode", api.SetModeRequest{SessionID: id, Mode: api.Mode(f.permit)})
		return id, err
	}, nil
}

func (f *sendFlags) finding() (func(context.Context, *client.Client) (string, error), error) {
	levels := []string{"", "off", "minimal", "low", "medium", "high", api.ThinkingConfigured}
	switch {
	case !slices.Contains(levels, f.thinking):
		return nil, usagef("--thinking %q is no level: give off, minimal, low, medium, high or configured", f.thinking)
	case f.steer && f.session == "":
		return nil, usagef("which session is to be steered? Give --session ID")
	case f.session != "" && f.project != "":
		return nil, usagef("--session and --project contradict each other: a session has its project already")
	case f.session != "":
		return f.resume, nil
	case f.project == "" && !f.to.local():
		return nil, usagef("which folder on the other machine? Give --project PATH, or --session ID")
	}
	if f.project == "" {
		f.project = "."
	}
	key := rand.Text()
	return func(ctx context.Context, c *client.Client) (string, error) { return f.begin(ctx, c, key) }, nil
}

func (f *sendFlags) resume(ctx context.Context, c *client.Client) (string, error) {
	return f.session, f.choose(ctx, c, f.session, f.model)
}

// choose sets the model and how much it thinks, as far as either is named.
func (f *sendFlags) choose(ctx context.Context, c *client.Client, sessionID, model string) error {
	if model == "" && f.thinking == "" {
		return nil
	}
	_, err := client.Call[api.Empty](ctx, c, "set_model",
		api.SetModelRequest{SessionID: sessionID, Model: model, Thinking: f.thinking})
	return err
}

func (f *sendFlags) begin(ctx context.Context, c *client.Client, key string) (string, error) {
	projectID, err := f.findProject(ctx, c)
	if err != nil {
		return "", err
	}
	created, err := client.Call[api.CreateSessionResponse](ctx, c, "create_session",
		api.CreateSessionRequest{ProjectID: projectID, ClientKey: key, Model: f.model})
	if err != nil {
		return "", err
	}
	f.begun = created.Session.ID
	return f.begun, f.choose(ctx, c, f.begun, "")
}

// findProject takes --project for an id where there is such a project, else for a
// folder, which it makes a project.
func (f *sendFlags) findProject(ctx context.Context, c *client.Client) (string, error) {
	if strings.HasPrefix(f.project, "prj_") {
		list, err := client.Call[api.ListProjectsResponse](ctx, c, "list_projects", api.Empty{})
		if err != nil {
			return "", err
		}
		for _, p := range list.Projects {
			if p.ID == f.project {
				return p.ID, nil
			}
		}
	}
	path, err := f.to.path(f.project)
	if err != nil {
		return "", err
	}
	added, err := client.Call[api.AddProjectResponse](ctx, c, "add_project", api.AddProjectRequest{Path: path})
	return added.Project.ID, err
}

type sendResult struct {
	Type       string             `json:"type"` // "result"
	SessionID  string             `json:"sessionId"`
	StopReason session.StopReason `json:"stopReason"`
	Error      string             `json:"error,omitempty"`
	Text       string             `json:"text"`
}

func (a *app) printResult(r follow.Result, f sendFlags) error {
	if r.StopReason == session.StopLength {
		fmt.Fprintln(a.stderr, "scorel: the answer was cut at the model's token limit: raise max_tokens of the model in the host's config.toml, or ask for less")
	}
	if f.asJSON {
		return printJSON(a.stdout, sendResult{"result", r.SessionID, r.StopReason, r.Error, r.Text})
	}
	if f.session == "" {
		fmt.Fprintf(a.stderr, "scorel: session %s\n", printable(r.SessionID))
	}
	return nil
}

// turnFailure is nil when the turn came to an answer.
func turnFailure(r follow.Result) error {
	switch r.StopReason {
	case session.StopError:
		return &turnError{r.Error}
	case session.StopAborted:
		return &turnError{"the turn was cancelled; what was done until then is kept"}
	}
	return nil
}
