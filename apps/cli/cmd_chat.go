package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/chat"
	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

type chatFlags struct {
	session, project string
	watch, noNotify  bool
}

func newChat(a *app) *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Chat with the agent about this folder, full screen",
		Long: `Open a full-screen chat with the agent about the current folder. "scorel" alone does the
same in a terminal. If no host runs on this machine, one is started in the background; it
keeps running, and so does the agent, when you leave. "scorel host stop" stops it.

Without --session, the first prompt starts a new session. F1 lists the keys.

Without a terminal, the prompt is read from standard input and the answer is printed, as by
"scorel send -".`,
		Example: `  scorel chat
  scorel chat --project ~/code/site
  scorel chat --session ID
  scorel chat --session ID --watch`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if terminal.IsTerminal(a.stdin) && !interactive(a.console, a.env) && !f.watch {
				fmt.Fprintln(a.stderr, "scorel: the chat needs a terminal that can show it: write a prompt here, and end it with Ctrl-D")
			}
			return runChat(cmd.Context(), a.target(""), f)
		},
	}
	cmd.Flags().StringVar(&f.session, "session", "", "continue the session with this id")
	cmd.Flags().StringVar(&f.project, "project", "", "folder of the project (default: this folder)")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "only watch the session; needs --session")
	cmd.Flags().BoolVar(&f.noNotify, "no-notify", false, noNotify)
	return cmd
}

const noNotify = "do not notify through the terminal while it is not focused"

func newAttach(a *app) *cobra.Command {
	var watch, silent bool
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Chat in a session of a host, also of another machine",
		Long: `Open a full-screen chat in a session: of the host on this machine or, with --device, of a
paired one, over the best path that reaches it. Without SESSION, choose from the list of sessions. With --watch,
nothing can be changed. With --link, watch the session that a guest link shows, without pairing.
The link is a secret, and other users of this machine can see the arguments of a command:
with --link -, it is read from the terminal without echo, or from standard input.

Without a terminal, the session is printed and followed as text, as by
"scorel session show --follow".`,
		Example: `  scorel attach
  scorel attach --device dev_...
  scorel attach --device dev_... ID --watch
  scorel attach --link https://relay.example/g#...
  scorel attach --link -`,
		Args: argCount(0, 1, "the id of at most one session"),
	}
	to := a.targetFlag(cmd)
	to.linkFlag(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "only watch")
	cmd.Flags().BoolVar(&silent, "no-notify", false, noNotify)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := to.sessionOf(cmd.Context(), args)
		if err != nil {
			return err
		}
		if interactive(a.console, a.env) {
			return to.openChat(cmd.Context(), chat.Config{Session: id, Watch: watch || to.guest != nil, NoNotify: silent})
		}
		if id == "" {
			return usagef("there is no terminal to choose a session in: give its id, as scorel session list prints it")
		}
		return followSession(cmd.Context(), to, id, false)
	}
	return cmd
}

// interactive reports whether a person is at a terminal.
func interactive(con console, env *environment) bool {
	return terminal.IsTerminal(con.stdin) && terminal.IsTerminal(con.stdout) && env.getenv("TERM") != "dumb"
}

// inProject reports whether scorel alone opens a chat: in a terminal, in a folder that can be a
// project. The home folder and the root have help instead.
func inProject(con console, env *environment) bool {
	folder, err := os.Getwd()
	if err != nil || !interactive(con, env) {
		return false
	}
	home, err := os.UserHomeDir()
	return err == nil && folder != home && folder != filepath.Dir(folder)
}

func runChat(ctx context.Context, to *target, f chatFlags) error {
	if f.watch && f.session == "" {
		return usagef("--watch needs a session to watch: give --session ID")
	}
	folder, err := filepath.Abs(f.project)
	if err != nil {
		return fmt.Errorf("resolving %s: %w", f.project, err)
	}
	person := interactive(to.con, to.via.env)
	if !person && !f.watch {
		flags := sendFlags{to: to, session: f.session}
		if f.session == "" {
			flags.project = folder
		}
		return (&sending{sendFlags: flags}).once(ctx)
	}
	started, err := ensureHost(ctx, to.via.env)
	if err != nil {
		return err
	}
	if !person {
		return followSession(ctx, to, f.session, false)
	}
	err = to.openChat(ctx, chat.Config{Folder: folder, Session: f.session, Watch: f.watch, NoNotify: f.noNotify})
	if started {
		fmt.Fprintln(to.con.stderr, "scorel: the host keeps running in the background; `scorel host stop` stops it")
	}
	return err
}

// openChat runs the chat with the host.
func (t *target) openChat(ctx context.Context, cfg chat.Config) error {
	home, err := t.via.env.home()
	if err != nil {
		return err
	}
	cfg.Input, cfg.Output, cfg.Environ = t.con.stdin, t.con.stdout, os.Environ()
	cfg.Explain, cfg.Help = sentence, helpOf
	if t.guest != nil {
		cfg.Host = t.guest.chatHost()
		_, err := chat.Run(ctx, cfg)
		return err
	}
	cfg.Host = t.chatHost("")
	if !t.local() {
		device, err := findDevice(home, t.device)
		if err != nil {
			return err
		}
		cfg.Host.Name = device.Label
	}
	cfg.Others = (&otherHosts{from: t, home: home, paired: map[string]*target{}}).list
	result, err := chat.Run(ctx, cfg)
	if err == nil && result.Session != "" {
		again := "scorel attach " + result.Session
		if result.Device != "" {
			again += " --device " + result.Device
		}
		fmt.Fprintf(t.con.stderr, "scorel: continue with `%s`\n", printable(again))
	}
	return err
}

// chatHost describes the target to the chat.
func (t *target) chatHost(name string) chat.Host {
	return chat.Host{
		Name: name, Dial: t.keep, Follow: t.followMove, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: t.wait, Path: t.pathName, Device: t.name,
		Sign: func(sessionID string, approval api.Approval, decision api.Decision, feedback string) (*session.AnswerSignature, error) {
			return t.signAnswer(sessionID, approval, follow.Verdict{Decision: decision, Feedback: feedback})
		},
	}
}
