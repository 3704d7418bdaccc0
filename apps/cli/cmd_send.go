package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

type sendFlags struct {
	to                                                *target
	session, project, model, agent, thinking, backend string
	yes, steer, asJSON, worktree                      bool
	permit                                            string // a permission mode
	yesTo, images, files                              []string
	begun                                             string // id of the session that this command created
	tree                                              *api.Worktree
}

func newSend(a *app) *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send PROMPT",
		Short: "Send a prompt and follow the answer",
		Long: `Send a prompt and print the answer as it arrives. Without --session, a new session starts
in the project of --project, by default the current folder. PROMPT "-" reads the prompt
from standard input.

Tools that change something need approval: in this terminal, or on any other client that
watches the session. --yes approves everything for this prompt, --yes-to what a rule
matches. --mode sets what the session may do without asking: plan, ask, accept-edits, auto
or bypass. Without a terminal, calls that need approval are denied unless another client
answers first, and the exit code is 4.

"/compact WORDS" compacts the session, like "scorel session compact". "/SKILL WORDS" runs the
skill of that name.

Questions of the agent are asked here and on every other client that watches; no flag
answers them. Without a terminal and without another client, a question ends the turn: send
the answer with --session.

--worktree starts the session in a git worktree of its own, on a new branch that begins at
the project's current commit, so that several sessions can work on a project side by side.
Uncommitted changes are not taken along.

--backend has another agent work on the prompt and on those after it, such as claude or codex:
see scorel backend list. The permissions, the log and this terminal are the same. "scorel" is
scorel's own agent.

--image attaches a PNG, JPEG, GIF or WebP file, at most ten; "-" reads one from standard
input. The model must accept images: see "scorel model list". --file attaches a file of any
kind: a small text file becomes a part of the prompt; others are stored with the session on
the host's machine, where the agent can read them.

A lost connection is retried for a minute while the host continues. A prompt or an answer to an
approval that the host cannot store now, for example because its disk is full, is retried for
15 seconds. A new session that it cannot store is not: nothing was sent yet.`,
		Example: `  scorel send "what does this project do?"
  scorel send --session ID --yes "run the tests"
  scorel send --image before.png --image after.png "what changed on this page?"
  scorel send --mode accept-edits --yes-to 'bash(go test *)' "fix the test"
  scorel send --file server.log --file report.pdf "why did it stop?"
  git diff | scorel send --json -
  scorel send --backend claude "fix the flaky test"
  scorel send --worktree "try the other parser"
  scorel send --device dev_... --project /srv/site "is it up to date?"`,
		Args: argCount(1, 1, "one prompt, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.send(cmd.Context(), args[0], f) },
	}
	f.to = a.targetFlag(cmd)
	f.add(cmd.Flags())
	addJSON(cmd, &f.asJSON)
	return cmd
}

func (f *sendFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.session, "session", "", "continue the session with this id")
	flags.StringVar(&f.project, "project", "", "id or folder of the project to start a session in (default: this folder)")
	flags.StringVar(&f.agent, "agent", "", "agent that a new session runs as, from \"scorel agent list\"")
	flags.StringVar(&f.model, "model", "", "name of a model in the host's config.toml")
	flags.StringVar(&f.backend, "backend", "", "agent that works on the prompt, from now on; scorel backend list shows them")
	flags.StringVar(&f.thinking, "thinking", "", "reasoning level from now on: off, minimal, low, medium, high, or configured for that of config.toml")
	flags.BoolVar(&f.yes, "yes", false, "approve everything for this prompt")
	flags.StringArrayVar(&f.yesTo, "yes-to", nil, "approve calls that match a rule, such as bash(go test *), for this prompt; may be repeated")
	flags.StringVar(&f.permit, "mode", "", "set the mode of the session: plan, ask, accept-edits, auto or bypass")
	flags.BoolVar(&f.steer, "steer", false, "with --session: send it to the running turn, for its next step")
	flags.BoolVar(&f.worktree, "worktree", false, "start the session in a git worktree of its own")
	flags.StringArrayVar(&f.images, "image", nil, "attach an image file; may be repeated, and - reads standard input")
	flags.StringArrayVar(&f.files, "file", nil, "attach a file of any kind; may be repeated, and - reads standard input")
}

func (f *sendFlags) mode() session.PromptMode {
	if f.steer {
		return session.ModeSteer
	}
	return ""
}

// turnError reports that the prompt was accepted but its turn failed.
type turnError struct{ message string }

func (e *turnError) Error() string { return e.message }

func (a *app) send(ctx context.Context, prompt string, f sendFlags) error {
	if _, err := f.preparation(); err != nil { // before input is read
		return err
	}
	with, err := readAttached(ctx, a.stdin, prompt, f)
	if err != nil {
		return err
	}
	text, asker, err := promptText(ctx, a.console, prompt)
	if err != nil {
		return err
	}
	if slices.Contains(f.images, "-") || slices.Contains(f.files, "-") {
		asker = nil // standard input was used
	}
	return a.sendText(ctx, text, with, asker, f)
}

// sendText sends a prompt and follows its turn. Without an asker, no one answers approvals.
func (a *app) sendText(ctx context.Context, text string, with attached, asker *terminal.Asker, f sendFlags) error {
	prepare, err := f.preparation()
	if err != nil {
		return err
	}
	if focus, ok := compactFocus(text); ok && len(with.images)+len(with.files) == 0 {
		if f.session == "" {
			return usagef("--session is missing: give the id of the session to compact")
		}
		return f.to.whereItIs(ctx, func() error { return compactSession(ctx, a.stdout, f.to, f.session, focus, f.asJSON) })
	}
	parent, endTrace, err := startTrace(ctx, a.env)
	if err != nil {
		return err
	}
	text, files := follow.WithTextFiles(text, with.files)
	view, failed := viewFor(a.console, f.asJSON, notices{a.stderr, asker})
	result, err := follow.Run(ctx, follow.Config{
		Dial: f.to.keep, Follow: f.to.followMove, Path: f.to.pathName, Prepare: prepare, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: f.to.wait, View: view,
		ClientKey: rand.Text(), Text: text, Images: with.images, Files: files, AllowAll: f.yes, AllowRules: f.yesTo, Mode: f.mode(),
		Unattended: asker == nil, Sign: f.to.signAnswer, Traceparent: parent.String(),
	})
	endTrace(err != nil || turnFailure(result) != nil)
	if err != nil {
		f.discard(ctx, err)
		return err
	}
	if err := printResult(a.console, result, f); err != nil {
		return err
	}
	return errors.Join(failed(), turnFailure(result))
}

// compactFocus reports whether a prompt is the command /compact, and returns the focus of
// the summary.
func compactFocus(prompt string) (focus string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/compact")
	focus = strings.TrimSpace(rest)
	return focus, ok && (rest == "" || focus != rest)
}

// viewFor returns the view of the turn, and a function that returns any error of printing.
func viewFor(con console, asJSON bool, n notices) (follow.View, func() error) {
	if asJSON {
		v := &jsonView{notices: n, stdout: con.stdout}
		return v, func() error { return v.failed }
	}
	v := &textView{notices: n, stdout: con.stdout, steered: terminal.IsTerminal(con.stdout), steps: newProgress(con.stderr, terminal.IsTerminal(con.stderr))}
	return v, func() error { return v.failed }
}

// promptText returns the prompt, and the asker for approvals, which is nil if standard
// input is not a terminal or was the prompt.
func promptText(ctx context.Context, con console, prompt string) (text string, asker *terminal.Asker, err error) {
	if prompt != "-" {
		if terminal.IsTerminal(con.stdin) {
			asker = terminal.NewAsker(con.stdin, con.stderr)
		}
	} else {
		data, err := terminal.ReadUpTo(ctx, con.stdin, api.MaxPrompt)
		if err != nil {
			return "", nil, fmt.Errorf("reading the prompt from standard input: %w", err)
		}
		prompt = string(data)
	}
	switch {
	case strings.TrimSpace(prompt) == "":
		return "", nil, usagef("the prompt is empty: give one as an argument or on standard input")
	case len(prompt) > api.MaxPrompt:
		return "", nil, usagef("the prompt is over the limit of %d bytes: put it in a file and name the file", api.MaxPrompt)
	case !utf8.ValidString(prompt): // JSON would silently change it
		return "", nil, usagef("the prompt is not UTF-8 text: put it in a file and name the file, or convert it, for example with iconv")
	}
	return prompt, asker, nil
}

// preparation returns a function that finds or creates the session. Its keys are generated
// once, so calling it again does not create a second session.
func (f *sendFlags) preparation() (func(context.Context, *client.Client) (string, error), error) {
	find, err := f.finding()
	if err != nil || f.permit == "" {
		return find, err
	}
	if err := checkMode(f.permit); err != nil {
		return nil, err
	}
	return func(ctx context.Context, c *client.Client) (string, error) {
		id, err := find(ctx, c)
		if err != nil {
			return "", err
		}
		_, err = client.Call(ctx, c, api.SetMode, api.SetModeRequest{SessionID: id, Mode: api.Mode(f.permit)})
		return id, err
	}, nil
}

func (f *sendFlags) finding() (func(context.Context, *client.Client) (string, error), error) {
	if err := checkThinking(f.thinking); err != nil {
		return nil, err
	}
	switch {
	case f.steer && f.session == "":
		return nil, usagef("--session is missing: give the id of the session to steer")
	case f.session != "" && f.project != "":
		return nil, usagef("--session and --project contradict each other: a session already has a project")
	case f.session != "" && f.agent != "":
		return nil, usagef("--session and --agent contradict each other: a session already has an agent")
	case f.session != "" && f.worktree:
		return nil, usagef("--session and --worktree contradict each other: a session already has a folder")
	case f.session != "":
		return f.resume, nil
	case f.project == "" && !f.to.local():
		return nil, usagef("--project is missing: give a folder on the other machine, or --session ID")
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

// choose sets the backend of a known session, the model and the thinking level, if they are given.
func (f *sendFlags) choose(ctx context.Context, c *client.Client, sessionID, model string) error {
	if f.session != "" && f.backend != "" {
		if _, err := client.Call(ctx, c, api.SetBackend, api.SetBackendRequest{SessionID: sessionID, Backend: f.backend}); err != nil {
			return err
		}
	}
	if model == "" && f.thinking == "" {
		return nil
	}
	_, err := client.Call(ctx, c, api.SetModel,
		api.SetModelRequest{SessionID: sessionID, Model: model, Thinking: f.thinking})
	return err
}

func (f *sendFlags) begin(ctx context.Context, c *client.Client, key string) (string, error) {
	projectID, err := f.findProject(ctx, c)
	if err != nil {
		return "", err
	}
	created, err := client.Call(ctx, c, api.CreateSession,
		api.CreateSessionRequest{ProjectID: projectID, ClientKey: key, Model: f.model, Agent: f.agent, Worktree: f.worktree, Backend: f.backend})
	if err != nil {
		return "", err
	}
	f.begun, f.tree = created.Session.ID, created.Session.Worktree
	if f.backend != "" && f.backend != api.OwnBackend && created.Session.Backend == "" {
		return "", api.Errorf(api.KindBadRequest, "the host does not know --backend: update scorel there")
	}
	if f.worktree && f.tree == nil {
		return "", api.Errorf(api.KindBadRequest, "the host does not know --worktree: update scorel there")
	}
	return f.begun, f.choose(ctx, c, f.begun, "")
}

// findProject interprets --project as an id or a folder. A folder that is not a project becomes one,
// for which a device needs more grants than for a prompt.
func (f *sendFlags) findProject(ctx context.Context, c *client.Client) (string, error) {
	project, path, err := (&projectFlag{target: f.to, given: f.project}).lookUp(ctx, c)
	if err != nil || project.ID != "" {
		return project.ID, err
	}
	added, err := client.Call(ctx, c, api.AddProject, api.AddProjectRequest{Path: path})
	return added.Project.ID, err
}

type sendResult struct {
	Type       string             `json:"type"` // "result"
	SessionID  string             `json:"sessionId"`
	StopReason session.StopReason `json:"stopReason"`
	Error      string             `json:"error,omitempty"`
	Text       string             `json:"text"`
	Denied     int                `json:"denied,omitempty"` // calls denied because no one could be asked
}

func printResult(con console, r follow.Result, f sendFlags) error {
	if r.StopReason == session.StopLength {
		fmt.Fprintln(con.stderr, "scorel: the answer was cut off at the model's token limit: raise max_tokens of the model in the host's config.toml, or ask for less")
	}
	if f.asJSON {
		return printJSON(con.stdout, sendResult{"result", r.SessionID, r.StopReason, r.Error, r.Text, r.Unasked})
	}
	if f.session == "" {
		fmt.Fprintf(con.stderr, "scorel: session %s\n", printable(r.SessionID))
		noteWorktree(con.stderr, f.tree)
	}
	return nil
}

// turnFailure returns nil if the turn produced an answer.
func turnFailure(r follow.Result) error {
	switch r.StopReason {
	case session.StopError:
		return &turnError{r.Error}
	case session.StopAborted:
		return &turnError{"the turn was canceled; what was done until then is kept"}
	}
	if r.Unasked > 0 {
		return sayf(errRefused, "calls were denied (%d) because they needed approval and there is no terminal: use --yes or --yes-to, or run this in a terminal", r.Unasked)
	}
	return nil
}
