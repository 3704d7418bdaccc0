package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
)

// Bounds of background jobs.
const (
	maxJobs      = 32 // that run at once in one session
	maxEndedJobs = 32 // that are remembered
)

// job is a command that runs or has ended. Its goroutine owns the process.
type job struct {
	id      string
	command string
	began   time.Time
	out     *tail
	op      *process.Operation
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when it has ended

	// Set before done is closed.
	exit    int
	took    time.Duration
	err     error // it could not be started
	stopped bool  // it was made to end
	binary  bool  // it wrote what is no text

	// Under the lock of jobs.
	background bool
	asked      bool // the model wanted it in the background
	wakes      bool // its end is worth a turn
	turn       int  // in which it was started
	seen       int  // bytes of output that were shown
}

// state says in words how the job stands.
func (j *job) state() string {
	select {
	case <-j.done:
	default:
		return fmt.Sprintf("running for %d s", int(time.Since(j.began).Seconds()))
	}
	switch {
	case j.err != nil:
		return "not started: " + j.err.Error()
	case j.stopped:
		return fmt.Sprintf("stopped after %d s", int(j.took.Seconds()))
	}
	return fmt.Sprintf("ended with exit code %d after %d s", j.exit, int(j.took.Seconds()))
}

// jobs are the commands of a session. Those in the foreground are among them
// until their call ends.
type jobs struct {
	ctx    context.Context // ends all
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	next int
	turn int // the running one, or the last
	list []*job
}

var errManyJobs = fmt.Errorf("there are %d jobs running already; stop one with bash_job first", maxJobs)

// startJob runs a command in a goroutine of its own, with its output going to
// progress until it is detached. It ends op, also where it does not start.
func (s *Set) startJob(t bashTool, call agent.Call, command string, progress func(string), op *process.Operation) (_ *job, err error) {
	j := &job{command: command, began: time.Now(), out: &tail{progress: progress, spill: &s.spill}, op: op, done: make(chan struct{})}
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if s.jobs.ctx.Err() != nil {
		err = errors.New("the session has ended")
	} else if s.jobs.running() >= maxJobs {
		err = errManyJobs
	}
	if err != nil {
		notStarted(op, err)
		return nil, err
	}
	s.jobs.next++
	j.turn = s.jobs.turn
	j.id = fmt.Sprintf("job%d", s.jobs.next)
	j.ctx, j.cancel = context.WithCancelCause(s.jobs.ctx)
	s.jobs.list = append(s.jobs.list, j)
	s.jobs.wg.Go(func() { s.runJob(t, j, call) })
	return j, nil
}

func (js *jobs) running() int {
	n := 0
	for _, j := range js.list {
		select {
		case <-j.done:
		default:
			n++
		}
	}
	return n
}

func (s *Set) runJob(t bashTool, j *job, call agent.Call) {
	out, errOut, closeOutput := t.outputs(j)
	j.exit, j.stopped, j.err = t.execute(j.ctx, call, j.command, out, errOut)
	closeOutput()
	j.took = time.Since(j.began)
	if j.err != nil {
		j.exit = -1
	}
	t.endOperation(j)
	s.jobs.mu.Lock()
	close(j.done)
	background, wakes := j.background, j.wakes
	s.jobs.forgetOld()
	s.jobs.mu.Unlock()
	if background {
		j.out.close()
		if s.jobs.ctx.Err() == nil {
			s.notices.ended(j.id, fmt.Sprintf("Background job %s %s: %s", j.id, j.state(), firstWords(j.command)), wakes)
		}
	}
	j.cancel(nil)
}

func firstWords(command string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if runes := []rune(first); len(runes) > 80 {
		return string(runes[:80]) + "..."
	}
	return first
}

// forgetOld drops the oldest of many ended jobs.
func (js *jobs) forgetOld() {
	ended := len(js.list) - js.running()
	js.list = slices.DeleteFunc(js.list, func(j *job) bool {
		if ended <= maxEndedJobs {
			return false
		}
		select {
		case <-j.done:
			ended--
			return true
		default:
			return false
		}
	})
}

// endWithTurn stops the commands that became jobs by themselves in this turn, which is
// cancelled, and waits for them. Those that were meant to go on do, without waking anybody.
func (s *Set) endWithTurn() {
	s.jobs.mu.Lock()
	var stopped []*job
	for _, j := range s.jobs.list {
		j.wakes = j.wakes && j.turn != s.jobs.turn
		if j.background && !j.asked && j.turn == s.jobs.turn {
			j.cancel(errCancelled)
			stopped = append(stopped, j)
		}
	}
	s.jobs.mu.Unlock()
	for _, j := range stopped {
		<-j.done
	}
}

// detach lets a job go on without its call; false when it has ended meanwhile. asked
// says that this was wanted from the beginning, wakes that its end is worth a turn.
func (s *Set) detach(j *job, asked, wakes bool) bool {
	j.out.mute()
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	select {
	case <-j.done:
		return false
	default:
	}
	j.background, j.asked, j.wakes = true, asked, wakes
	j.op.Report(process.Event{Stage: "background", TaskID: j.id, Message: "It goes on as background job " + j.id + "."})
	_, j.seen, _ = j.out.since(0)
	return true
}

// dropJob forgets a command that ended in the foreground.
func (s *Set) dropJob(j *job) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	s.jobs.list = slices.DeleteFunc(s.jobs.list, func(other *job) bool { return other == j })
}

func (s *Set) isBackground(j *job) bool {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	return j.background
}

// backgroundJobs returns those that a model may know, oldest first.
func (s *Set) backgroundJobs() []*job {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	var out []*job
	for _, j := range s.jobs.list {
		if j.background {
			out = append(out, j)
		}
	}
	return out
}

// news returns what a job wrote since it was last looked at.
func (s *Set) news(j *job) (text string, missed bool) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	text, j.seen, missed = j.out.since(j.seen)
	return text, missed
}

// StopJobs ends every command of the session that runs, and waits for it. Others
// may begin after it.
func (s *Set) StopJobs() {
	s.jobs.mu.Lock()
	running := slices.Clone(s.jobs.list)
	s.jobs.mu.Unlock()
	for _, j := range running {
		j.cancel(errTaskEnded)
	}
	for _, j := range running {
		<-j.done
	}
}
