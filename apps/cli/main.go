package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/service"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/mdns"
)

// Main runs one command and returns its exit code. args does not include the program name;
// getenv is os.Getenv except in tests. SIGINT and SIGTERM end the command cleanly; a second
// one ends the process immediately.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	if len(args) > 0 && args[0] == host.SandboxHelper {
		return host.EnterSandbox(args[1:], stderr)
	}
	if code, ok := service.Controlled(func(ctx context.Context) int { return mainUntil(ctx, args, stdin, stdout, stderr, getenv) }); ok {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return mainUntil(ctx, args, stdin, stdout, stderr, getenv)
}

// mainUntil runs one command, which ends cleanly when ctx does.
func mainUntil(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	handed, err := takeKeys()
	if err != nil {
		fmt.Fprintln(stderr, report(err))
		return exitCode(err)
	}
	restarted, err := takeRestarted()
	if err != nil {
		fmt.Fprintln(stderr, "scorel: "+sentence(err))
		return exitCode(err)
	}
	a := &app{console: console{stdin, stdout, stderr}, env: &environment{getenv: getenv}, invocation: invocation{args, handed, restarted}}
	root := newRoot(a)
	root.SetArgs(args)
	err = errors.Join(root.ExecuteContext(ctx), a.ends.run())
	if errors.Is(err, host.ErrRestart) {
		err = startOver(a.env) // it returns after a failure
	}
	if err != nil && !a.ran && exitCode(err) == ExitFailed {
		err = usagef("%s: see `scorel --help`", err)
	}
	if ctx.Err() != nil && exitCode(err) == ExitUnreachable {
		err = context.Canceled // the interrupt closed the connection
	}
	if err != nil {
		fmt.Fprintln(stderr, report(err))
	}
	return exitCode(err)
}

// app is what every command needs from the process.
type app struct {
	console
	env        *environment
	network    mdns.Network // where devices are announced and found; tests replace it
	ran        bool         // the command line was valid and its command started
	targeted   []targeted   // commands with --device
	invocation invocation
	ends       ends
}

// invocation is how this process was started.
type invocation struct {
	args       []string // of the command line
	keysHanded bool     // it was restarted without keys in its environment
	restarted  bool     // it replaces a host
}

// ends are what is called after the command, to release what outlives connections.
type ends struct {
	mu   sync.Mutex
	list []func() error
}

func (e *ends) add(f func() error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, f)
}

func (e *ends) run() error {
	e.mu.Lock()
	list := e.list
	e.list = nil
	e.mu.Unlock()
	var errs []error
	for _, f := range list {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

func newRoot(a *app) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "scorel",
		Short: "Reach the coding agent on your machine from any browser or terminal",
		Long: `scorel runs a coding agent on your own machine. You can reach it from any browser,
phone or terminal, through a relay that cannot read what it forwards. It needs no
open port, no VPN and no account.

Start with "scorel up": it runs a relay, a host and the web UI on this machine
and opens the page in your browser. In a terminal, "scorel" in the folder of a
project opens a chat about it.`,
		Example: `  scorel up
  scorel chat
  scorel host serve --relay https://relay.example
  scorel pair 7K3M-9QXR-2BTD
  scorel send "what does this project do?"`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				_, err := fmt.Fprintln(a.stdout, versionLine())
				return err
			}
			if len(args) == 0 && inProject(a.console, a.env) {
				return runChat(cmd.Context(), a.target(""), chatFlags{})
			}
			return runGroup(cmd, args)
		},

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.ran = true
			return checkAmounts(cmd)
		},
	}
	// Cobra's own flag needs a template for this line. Templates call methods by name, for which
	// the linker keeps all methods of all types: 6 MB.
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "print the version")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.env.homeFlag, "home", "", "folder with identity, config and sessions (SCOREL_HOME; default ~/.scorel)")
	root.AddCommand(
		newUp(a), newChat(a), newAttach(a), newACP(a), newRelay(a), newHost(a), newPair(a), newConnect(a), newDevices(a),
		newProject(a), newSession(a), newSend(a), newInbox(a), newFile(a), newGit(a), newTerminal(a), newTool(a), newSkill(a), newAgent(a), newMemory(a), newMCP(a), newHook(a), newBackend(a), newExtension(a), newBudget(a), newPush(a), newChannel(a), newSchedule(a), newPermission(a), newModel(a), newDoctor(a), newUpdate(a), newVersion(a),
	)
	strictCompletion(root)
	strictHelp(root)
	root.AddCommand(newLogs(a), newService(a))
	a.followMoves()
	return root
}

// strictCompletion makes an unknown shell an error, like any other unknown word.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, runGroup
			cmd.Example = "  scorel completion bash > /etc/bash_completion.d/scorel\n  scorel completion zsh > \"${fpath[1]}/_scorel\""
		}
	}
}

// strictHelp makes help for an unknown command an error too.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Example = "  scorel help session list"
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return runGroup(about, rest)
				}
				return about.Help()
			}
		}
	}
}

// group returns a command that only contains others.
func group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: cobra.ArbitraryArgs, RunE: runGroup}
	cmd.AddCommand(children...)
	return cmd
}

// runGroup prints help, or reports an unknown command.
func runGroup(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return usagef("there is no command %q%s: see `%s --help`", args[0], hint, cmd.CommandPath())
}

// argCount checks the number of arguments. what describes them for people.
func argCount(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("this command takes %s: see `%s --help`", what, cmd.CommandPath())
		}
		return nil
	}
}

// addInvite adds --invite without a default, because help would print a secret.
func addInvite(cmd *cobra.Command, invite *string) {
	cmd.Flags().StringVar(invite, "invite", "", "invite for a relay that requires one, needed only once (SCOREL_INVITE, which other users of this machine cannot see)")
}
