package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// retryPolicy says how often and when a failed call is retried.
type retryPolicy struct {
	tries   int           // retries after the first attempt
	base    time.Duration // first pause; doubles each time
	longest time.Duration // no retry if the server asks for a longer pause
}

func defaultRetry() retryPolicy {
	return retryPolicy{tries: 3, base: 2 * time.Second, longest: 60 * time.Second}
}

// failure describes a call that did not produce a message.
type failure struct {
	text  string        // for people
	retry bool          // a retry may succeed
	after time.Duration // how long the server asked to wait; 0 if it did not
	// overflow reports that the prompt is larger than the model accepts.
	overflow bool
	reason   Reason
}

// ending describes the end of an attempt that produced a message.
type ending struct {
	stop       session.StopReason
	errorText  string // with StopError
	usage      *session.Usage
	responseID string
	overflow   bool // with StopError: the prompt is larger than the model accepts
}

// attempt makes the call once. It stops when ctx ends.
type attempt func(ctx context.Context, a *assembler) (ending, *failure)

// written is the attempt that sends the body once; err says why there is none.
func written(body []byte, err error, once func(ctx context.Context, body []byte, a *assembler) (ending, *failure)) attempt {
	return func(ctx context.Context, a *assembler) (ending, *failure) {
		if err != nil {
			return ending{}, &failure{text: "The prompt could not be written as JSON: " + err.Error()}
		}
		return once(ctx, body, a)
	}
}

// run makes the call until it succeeds, fails permanently or is canceled. signed reports
// that the provider requires signatures on thinking.
func (c caller) run(ctx context.Context, api string, signed bool, emit func(agent.Delta), once attempt) session.Message {
	message := session.Message{
		Role: session.RoleAssistant, API: api, Provider: c.config.Provider, Model: c.config.Model, Usage: &session.Usage{},
	}
	for try := 0; ; try++ {
		a := &assembler{emit: emit}
		end, fail := c.watched(ctx, a, once)
		message.Timestamp = time.Now().UnixMilli()
		if fail == nil {
			return c.finish(message, a, end)
		}
		message.Content, message.Usage = a.partial(signed), c.spent(a)
		if ctx.Err() != nil {
			message.StopReason = session.StopAborted
			return message
		}
		pause := max(fail.after, c.retry.base<<try)
		if !fail.retry || try >= c.retry.tries || pause > c.retry.longest {
			message.StopReason, message.ErrorMessage = session.StopError, c.final(fail, try)
			if c.config.last != nil {
				*c.config.last = *fail
			}
			if fail.overflow {
				emit(agent.Delta{Kind: agent.DeltaOverflow, Text: fail.text})
			}
			return message
		}
		emit(agent.Delta{Kind: agent.DeltaReset, Text: fail.text, Usage: message.Usage, Retry: c.retry.next(fail, try, pause)})
		if !sleep(ctx, pause) {
			message.Content, message.Usage, message.StopReason = nil, &session.Usage{}, session.StopAborted
			return message
		}
	}
}

// next describes the attempt that follows the failed one, which was number try+1.
func (p retryPolicy) next(fail *failure, try int, pause time.Duration) *agent.Retry {
	return &agent.Retry{Reason: fail.text, Attempt: try + 2, Attempts: p.tries + 1, DelayMS: pause.Milliseconds()}
}

// spent returns the usage of an attempt that produced no message, as far as the provider
// reported it. Unreported usage is not estimated.
func (c caller) spent(a *assembler) *session.Usage {
	usage := session.Usage{}
	if a.usage != nil {
		usage = *a.usage
		usage.Cost = c.config.Price.cost(usage)
	}
	usage.Partial = a.begun && !a.complete
	return &usage
}

// finish completes the message of an attempt.
func (c caller) finish(message session.Message, a *assembler, end ending) session.Message {
	message.Content, message.StopReason, message.ErrorMessage = a.whole(), end.stop, end.errorText
	message.ResponseID = end.responseID
	if end.usage != nil {
		message.Usage = end.usage
		message.Usage.Cost = c.config.Price.cost(*end.usage)
	}
	if end.overflow {
		a.emit(agent.Delta{Kind: agent.DeltaOverflow, Text: end.errorText})
	}
	return message
}

func (c caller) final(fail *failure, try int) string {
	switch {
	case fail.retry && fail.after > c.retry.longest:
		return fmt.Sprintf("%s The server asks for a pause of %d s; send the prompt again after that.", fail.text, int(fail.after.Seconds()))
	case try > 0:
		return fmt.Sprintf("%s It was tried %d times.", fail.text, try+1)
	}
	return fail.text
}

// sleep waits and reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var errIdle = errors.New("model: the stream is silent")

type touchKey struct{}

// watched runs the attempt and ends it if touch is not called for too long.
func (c caller) watched(ctx context.Context, a *assembler, once attempt) (ending, *failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.idle, func() { cancel(errIdle) })
	defer timer.Stop()
	ctx = context.WithValue(ctx, touchKey{}, func() { timer.Reset(c.idle) })
	end, fail := once(ctx, a)
	if fail != nil && errors.Is(context.Cause(ctx), errIdle) {
		fail = &failure{retry: true, text: fmt.Sprintf("%s sent nothing for %d s.", c.config.subject(), int(c.idle.Seconds()))}
	}
	return end, fail
}

// touch tells the watchdog of ctx that the stream is alive.
func touch(ctx context.Context) {
	if reset, ok := ctx.Value(touchKey{}).(func()); ok {
		reset()
	}
}

// retryAfter returns how long a server asks to wait.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("retry-after-ms"), 64); err == nil && ms > 0 {
		return clampWait(ms / 1000)
	}
	value := header.Get("retry-after")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return clampWait(seconds)
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// clampWait converts seconds to a duration without overflow.
func clampWait(seconds float64) time.Duration {
	return time.Duration(min(seconds, 1e6) * float64(time.Second))
}
