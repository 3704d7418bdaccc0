package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

//go:embed bash.md
var bashDoc string

// Timeouts of bash.
const (
	defaultYield = 120 * time.Second
	maxTimeout   = 600 * time.Second
	// killGrace is how long a command may take to exit after it is asked to, and how long
	// to wait for its output after it has exited.
	killGrace = 2 * time.Second
)

type bashTool struct {
	*Set
	grace time.Duration
	yield time.Duration // after which a command without a timeout continues as a job
	// skill is the skill whose script the command is; its error output may contain events.
	// "" means a command of the model.
	skill string
	title string // shown to people instead of the command; "" means the command
}

func newBash(s *Set) bashTool { return bashTool{Set: s, grace: killGrace, yield: defaultYield} }

type bashArgs struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout_seconds,omitempty"`
	Background bool   `json:"background,omitempty"`
	Notify     bool   `json:"notify_on_complete,omitempty"`
}

func (bashTool) Spec() agent.ToolSpec {
	return spec("bash", bashDoc, `{
		"command": {"type": "string", "description": "The command line."},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "description": "When to stop it. Without this it becomes a background job after 120 seconds."},
		"background": {"type": "boolean", "description": "Return at once and let it run as a job."},
		"notify_on_complete": {"type": "boolean", "description": "If it has become a job: begin a turn when it ends, if you have stopped working by then."}}`, "command")
}

func (bashTool) Risk() agent.Risk { return agent.RiskWrite }

func (bashTool) Describe(call agent.Call) agent.Description {
	var args bashArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Description{Title: "Run a command (the arguments are wrong)", Detail: string(call.Arguments)}
	}
	first, _, more := strings.Cut(strings.TrimSpace(args.Command), "\n")
	if runes := []rune(first); len(runes) > 80 {
		first, more = string(runes[:80]), true
	}
	if more {
		first += " ..."
	}
	return agent.Description{Title: "Run " + first, Detail: args.Command}
}

// bashDetails holds information for people and programs besides the text.
type bashDetails struct {
	ExitCode   int    `json:"exitCode"` // -1 if a signal stopped it
	DurationMs int64  `json:"durationMs"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	Cancelled  bool   `json:"cancelled,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"`
	Job        string `json:"job,omitempty"` // name of the background job it continues as; exitCode is not meaningful yet
	// Notify reports that a turn begins when the job ends or is lost with its host.
	Notify bool `json:"notify,omitempty"`
}

func (t bashTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	var args bashArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("bash: %v.", err)
	}
	timeout := time.Duration(args.Timeout) * time.Second
	switch {
	case strings.TrimSpace(args.Command) == "":
		return agent.Failure("bash: the command is empty.")
	case strings.ContainsRune(args.Command, 0):
		return agent.Failure("bash: the command contains a zero byte.")
	case args.Timeout < 0 || timeout > maxTimeout:
		return agent.Failure("bash: timeout_seconds must be 1 to %d.", int(maxTimeout.Seconds()))
	case args.Background && timeout > 0:
		return agent.Failure("bash: a background job has no timeout; leave timeout_seconds out and stop it with bash_job.")
	}
	j, err := t.startJob(t, call, args.Command, progress, t.operation(ctx, call, args.Command))
	if err != nil {
		return agent.Failure("bash: %v.", err)
	}
	if args.Background {
		if t.jobs.detach(j, true, args.Notify) {
			return detached(j, fmt.Sprintf("Started as background job %s.", j.id), "", args.Notify)
		}
		return t.finished(j, 0)
	}
	return t.await(ctx, j, timeout, args.Notify)
}

// await runs a command in the foreground for its time limit.
func (t bashTool) await(ctx context.Context, j *job, timeout time.Duration, wakes bool) agent.Result {
	timer := time.NewTimer(cmp.Or(timeout, t.yield))
	defer timer.Stop()
	select {
	case <-j.done:
	case <-ctx.Done():
		j.cancel(errCancelled)
		<-j.done
		text, truncated := j.out.text()
		result := agent.Cancelled(j.took, text)
		result.Details = details(bashDetails{ExitCode: j.exit, DurationMs: j.took.Milliseconds(), Cancelled: true, Truncated: truncated})
		return result
	case <-timer.C:
		if timeout == 0 && t.jobs.detach(j, false, wakes) {
			text, _, _ := j.out.since(0)
			return detached(j, fmt.Sprintf("Still running after %d s; it continues as background job %s. Output so far:", int(t.yield.Seconds()), j.id), text, wakes)
		}
		j.cancel(errTimedOut)
		<-j.done
	}
	return t.finished(j, timeout)
}

// detached returns the result of a command that continues in the background. wakes reports
// that its end begins a turn.
func detached(j *job, head, output string, wakes bool) agent.Result {
	if output != "" {
		head += "\n" + output
	}
	result := agent.Success(withNewline(head) + "You will be notified when it ends. Look at its output or stop it with bash_job.")
	result.Details = details(bashDetails{Job: j.id, Notify: wakes})
	return result
}

// finished returns the result of a command that has ended. timeout is the time it had.
func (t bashTool) finished(j *job, timeout time.Duration) agent.Result {
	<-j.done
	t.jobs.drop(j)
	if j.err != nil {
		return agent.Failure("bash: the command could not be started: %v.", j.err)
	}
	text, truncated := j.out.text()
	info := bashDetails{ExitCode: j.exit, DurationMs: j.took.Milliseconds(), Truncated: truncated}
	var result agent.Result
	switch {
	case t.notText(j):
		result = agent.Failure("The script's output is not text. Make it write to a file and print the path.")
	case j.stopped && timeout == 0:
		info.Cancelled = true
		result = agent.Failure("The command was stopped because the session ended. Output so far:\n%s", text)
	case j.stopped:
		info.TimedOut = true
		result = agent.Failure("The command did not end within %d s and was stopped. Give it more time with timeout_seconds, or make it do less. Output so far:\n%s",
			int(timeout.Seconds()), text)
	case j.exit != 0:
		result = agent.Failure("%s[exit code %d]", withNewline(text), j.exit)
	case text == "":
		result = agent.Success(agent.TextNoOutput)
	default:
		result = agent.Success(text)
	}
	result.Details = details(info)
	return result
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// execute runs the command until it exits or ctx ends, and leaves no process of its group
// behind. stopped reports that it was asked to exit, whatever its exit code; err reports
// that it did not start.
func (t bashTool) execute(ctx context.Context, call agent.Call, command string, out, errOut io.Writer) (exit int, stopped bool, err error) {
	// The kernel sends the parent-death signal when the parent's thread exits, so the
	// thread must not change between start and wait.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir, argv := call.Cwd, []string{"bash", "-c", command}
	if t.options.GuardGit != nil {
		end, err := t.options.GuardGit(dir)
		if err != nil {
			return 0, false, startError(err, dir)
		}
		defer func() {
			for _, note := range end() { // part of the output, for the model and for people
				_, _ = fmt.Fprintf(out, "\n[scorel: %s. Ask the user; only a person can restore it, by hand.]\n", note)
			}
		}()
	}
	if t.options.Sandbox != nil {
		argv = t.options.Sandbox(argv, dir, t.writable()...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = t.environment()
	cmd.Stdout, cmd.Stderr = out, errOut
	cmd.WaitDelay = t.grace // do not wait for a child that keeps the pipe open
	forget, err := t.options.Ledger.Start(cmd, procgroup.Owner{Session: t.scope.Session, Call: call.ID})
	if err != nil {
		return 0, false, startError(err, dir)
	}
	defer forget()
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ended:
		case <-ctx.Done():
			stopped = true
			procgroup.Terminate(cmd, ended, t.grace)
		}
	}()
	waitErr := cmd.Wait()
	close(ended)
	<-watched
	procgroup.Kill(cmd)
	exit, err = exitCode(cmd, waitErr)
	if stopped && exit == signalled+int(syscall.SIGTERM) {
		exit = -1 // a sandbox reports a signal in the same way as a shell
	}
	return exit, stopped, err
}

// signalled is added to the number of the signal that ended a process when a program
// reports it as an exit code.
const signalled = 128

func exitCode(cmd *exec.Cmd, waitErr error) (int, error) {
	var exited *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exited) && !errors.Is(waitErr, exec.ErrWaitDelay) {
		return 0, waitErr
	}
	return cmd.ProcessState.ExitCode(), nil
}

// writable returns the folders of the session besides the project.
func (t bashTool) writable() []string {
	if t.scope.Scratch == "" {
		return nil
	}
	return []string{t.scope.Scratch}
}

func startError(err error, dir string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("there is no bash on this machine")
	}
	if _, statErr := os.Stat(dir); statErr != nil {
		return fmt.Errorf("the working folder %s does not exist", dir)
	}
	return err
}

// environment returns the host's environment without the providers' keys, and with settings
// that keep programs from waiting for input.
func (t bashTool) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(t.options.HideEnv, name)
	})
	if t.skill != "" {
		env = append(env, "SCOREL_PROCESS_EVENTS=1")
	}
	return append(env, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0")
}
