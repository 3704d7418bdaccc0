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
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &sending{sendFlags: f}
			return s.run(cmd.Context(), args[0])
		},
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
	flags.StringVar(&f.model, "model", "", "name of a model of the host")
	flags.StringVar(&f.backend, "backend", "", "agent that works on the prompt, from now on; scorel backend list shows them")
	flags.StringVar(&f.thinking, "thinking", "", "reasoning level from now on: off, minimal, low, medium, high, or configured for that of the model's settings")
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

// sending is one prompt on its way to a session, which it may create.
type sending struct {
	sendFlags
	begun string        // id of the session that it created
	tree  *api.Worktree // of that session
}

func (s *sending) run(ctx context.Context, prompt string) error {
	if _, err := s.preparation(); err != nil { // before input is read
		return err
	}
	with, err := readAttached(ctx, s.to.con.stdin, prompt, s.sendFlags)
	if err != nil {
		return err
	}
	text, asker, err := promptText(ctx, s.to.con, prompt)
	if err != nil {
		return err
	}
	if slices.Contains(s.images, "-") || slices.Contains(s.files, "-") {
		asker = nil // standard input was used
	}
	return s.send(ctx, text, with, asker)
}

// once sends standard input as a prompt. No host is started for one that cannot be sent.
func (s *sending) once(ctx context.Context) error {
	text, _, err := promptText(ctx, s.to.con, "-")
	if err != nil {
		return err
	}
	if _, err := ensureHost(ctx, s.to.via.env); err != nil {
		return err
	}
	return s.send(ctx, text, attached{}, nil)
}

// send sends a prompt and follows its turn. Without an asker, no one answers approvals.
func (s *sending) send(ctx context.Context, text string, with attached, asker *terminal.Asker) error {
	prepare, err := s.preparation()
	if err != nil {
		return err
	}
	if focus, ok := compactFocus(text); ok && len(with.images)+len(with.files) == 0 {
		if s.session == "" {
			return usagef("--session is missing: give the id of the session to compact")
		}
		return s.to.whereItIs(ctx, func() error { return compactSession(ctx, s.to.con.stdout, s.to, s.session, focus, s.asJSON) })
	}
	parent, endTrace, err := startTrace(ctx, s.to.via.env)
	if err != nil {
		return err
	}
	text, files := follow.WithTextFiles(text, with.files)
	view, failed := viewFor(s.to.con, s.asJSON, notices{s.to.con.stderr, asker})
	result, err := follow.Run(ctx, follow.Config{
		Dial: s.to.keep, Follow: s.to.followMove, Path: s.to.pathName, Prepare: prepare, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: s.to.wait, View: view,
		ClientKey: rand.Text(), Text: text, Images: with.images, Files: files, AllowAll: s.yes, AllowRules: s.yesTo, Mode: s.mode(),
		Unattended: asker == nil, Sign: s.to.signAnswer, Traceparent: parent.String(),
	})
	endTrace(err != nil || turnFailure(result) != nil)
	if err != nil {
		s.discard(ctx, err)
		return err
	}
	if err := s.printResult(result); err != nil {
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
func (s *sending) preparation() (func(context.Context, *client.Client) (string, error), error) {
	find, err := s.finding()
	if err != nil || s.permit == "" {
		return find, err
	}
	if err := checkMode(s.permit); err != nil {
		return nil, err
	}
	return func(ctx context.Context, c *client.Client) (string, error) {
		id, err := find(ctx, c)
		if err != nil {
			return "", err
		}
		_, err = client.Call(ctx, c, api.SetMode, api.SetModeRequest{SessionID: id, Mode: api.Mode(s.permit)})
		return id, err
	}, nil
}

func (s *sending) finding() (func(context.Context, *client.Client) (string, error), error) {
	if err := checkThinking(s.thinking); err != nil {
		return nil, err
	}
	switch {
	case s.steer && s.session == "":
		return nil, usagef("--session is missing: give the id of the session to steer")
	case s.session != "" && s.project != "":
		return nil, usagef("--session and --project contradict each other: a session already has a project")
	case s.session != "" && s.agent != "":
		return nil, usagef("--session and --agent contradict each other: a session already has an agent")
	case s.session != "" && s.worktree:
		return nil, usagef("--session and --worktree contradict each other: a session already has a folder")
	case s.session != "":
		return s.resume, nil
	case s.project == "" && !s.to.local():
		return nil, usagef("--project is missing: give a folder on the other machine, or --session ID")
	}
	if s.project == "" {
		s.project = "."
	}
	key := rand.Text()
	return func(ctx context.Context, c *client.Client) (string, error) { return s.begin(ctx, c, key) }, nil
}

func (s *sending) resume(ctx context.Context, c *client.Client) (string, error) {
	return s.session, s.choose(ctx, c, s.session, s.model)
}

// choose sets the backend of a known session, the model and the thinking level, if they are given.
func (s *sending) choose(ctx context.Context, c *client.Client, sessionID, model string) error {
	if s.session != "" && s.backend != "" {
		if _, err := client.Call(ctx, c, api.SetBackend, api.SetBackendRequest{SessionID: sessionID, Backend: s.backend}); err != nil {
			return err
		}
	}
	if model == "" && s.thinking == "" {
		return nil
	}
	_, err := client.Call(ctx, c, api.SetModel,
		api.SetModelRequest{SessionID: sessionID, Model: model, Thinking: s.thinking})
	return err
}

func (s *sending) begin(ctx context.Context, c *client.Client, key string) (string, error) {
	projectID, err := s.findProject(ctx, c)
	if err != nil {
		return "", err
	}
	created, err := client.Call(ctx, c, api.CreateSession,
		api.CreateSessionRequest{ProjectID: projectID, ClientKey: key, Model: s.model, Agent: s.agent, Worktree: s.worktree, Backend: s.backend})
	if err != nil {
		return "", err
	}
	s.begun, s.tree = created.Session.ID, created.Session.Worktree
	if s.backend != "" && s.backend != api.OwnBackend && created.Session.Backend == "" {
		return "", api.Errorf(api.KindBadRequest, "the host does not know --backend: update scorel there")
	}
	if s.worktree && s.tree == nil {
		return "", api.Errorf(api.KindBadRequest, "the host does not know --worktree: update scorel there")
	}
	return s.begun, s.choose(ctx, c, s.begun, "")
}

// findProject interprets --project as an id or a folder. A folder that is not a project becomes one,
// for which a device needs more grants than for a prompt.
func (s *sending) findProject(ctx context.Context, c *client.Client) (string, error) {
	project, path, err := (&projectFlag{target: s.to, given: s.project}).lookUp(ctx, c)
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

func (s *sending) printResult(r follow.Result) error {
	if r.StopReason == session.StopLength {
		fmt.Fprintln(s.to.con.stderr, "scorel: the answer was cut off at the model's token limit: raise the limit of its answers in config.toml or with `scorel model edit`, or ask for less")
	}
	if s.asJSON {
		return printJSON(s.to.con.stdout, sendResult{"result", r.SessionID, r.StopReason, r.Error, r.Text, r.Unasked})
	}
	if s.session == "" {
		fmt.Fprintf(s.to.con.stderr, "scorel: session %s\n", printable(r.SessionID))
		noteWorktree(s.to.con.stderr, s.tree)
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
