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
	maxJobs      = 32 // running at once in one session
	maxEndedJobs = 32 // ended jobs that are remembered
)

// job is a running or ended command. Its goroutine owns the process.
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
	err     error // why it could not be started
	stopped bool  // it was asked to exit
	binary  bool  // its output is not text

	// Guarded by the lock of jobs.
	background bool
	asked      bool // the model asked for the background
	wakes      bool // its end begins a turn
	turn       int  // turn that started it
	seen       int  // bytes of output already shown
}

// state describes the state of the job.
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

// jobs are the commands of a session, including those in the foreground until their call
// returns.
type jobs struct {
	ctx    context.Context // its end stops all jobs
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	next int
	turn int // the current turn, or the last one
	list []*job
}

var errManyJobs = fmt.Errorf("%d jobs are already running; stop one with bash_job first", maxJobs)

// startJob runs a command in its own goroutine and sends its output to progress until the
// job is detached. It ends op, even if the command does not start.
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

// forgetOld removes the oldest ended jobs above the limit.
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

// endWithTurn stops the commands that became jobs on their own during this canceled turn,
// and waits for them. Jobs started in the background continue, but no longer begin a turn.
func (js *jobs) endWithTurn() {
	js.mu.Lock()
	var stopped []*job
	for _, j := range js.list {
		j.wakes = j.wakes && j.turn != js.turn
		if j.background && !j.asked && j.turn == js.turn {
			j.cancel(errCancelled)
			stopped = append(stopped, j)
		}
	}
	js.mu.Unlock()
	for _, j := range stopped {
		<-j.done
	}
}

// detach lets a job continue without its call. It returns false if the job has already
// ended. asked reports that the background was requested from the start, wakes that the
// job's end begins a turn.
func (js *jobs) detach(j *job, asked, wakes bool) bool {
	j.out.mute()
	js.mu.Lock()
	defer js.mu.Unlock()
	select {
	case <-j.done:
		return false
	default:
	}
	j.background, j.asked, j.wakes = true, asked, wakes
	j.op.Report(process.Event{Stage: "background", TaskID: j.id, Message: "Continues as background job " + j.id + "."})
	_, j.seen, _ = j.out.since(0)
	return true
}

// drop removes a command that ended in the foreground.
func (js *jobs) drop(j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.list = slices.DeleteFunc(js.list, func(other *job) bool { return other == j })
}

func (js *jobs) isBackground(j *job) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	return j.background
}

// inBackground returns the jobs visible to the model, oldest first.
func (js *jobs) inBackground() []*job {
	js.mu.Lock()
	defer js.mu.Unlock()
	var out []*job
	for _, j := range js.list {
		if j.background {
			out = append(out, j)
		}
	}
	return out
}

// news returns the output of a job since the last call.
func (js *jobs) news(j *job) (text string, missed bool) {
	js.mu.Lock()
	defer js.mu.Unlock()
	text, j.seen, missed = j.out.since(j.seen)
	return text, missed
}

// stop ends every running command of the session and waits for it. New ones may start
// afterwards.
func (js *jobs) stop() {
	js.mu.Lock()
	running := slices.Clone(js.list)
	js.mu.Unlock()
	for _, j := range running {
		j.cancel(errTaskEnded)
	}
	for _, j := range running {
		<-j.done
	}
}

// begin counts a turn.
func (js *jobs) begin() {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.turn++
}
