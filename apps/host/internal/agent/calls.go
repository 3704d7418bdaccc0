package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// answer gives every call of a message exactly one result, in call order.
// Neighbouring read calls run side by side; every other call runs alone.
func (r *runner) answer(ctx context.Context, message session.Message, calls []session.Block) error {
	switch message.StopReason {
	case session.StopLength:
		return r.refuseAll(ctx, calls, TextCut)
	case session.StopAborted:
		return r.refuseAll(ctx, calls, TextNotStarted)
	case session.StopError:
		return r.refuseAll(ctx, calls, TextModelFailed)
	}
	if r.last {
		return r.refuseAll(ctx, calls, TextLimit)
	}
	for len(calls) > 0 {
		n := r.segment(calls)
		if err := r.runSegment(ctx, calls[:n]); err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

func (r *runner) refuseAll(ctx context.Context, calls []session.Block, text string) error {
	for _, call := range calls {
		if err := r.appendResult(ctx, call, Failure("%s", text)); err != nil {
			return err
		}
	}
	return nil
}

// segment returns how many calls from the front may run together: at least one.
func (r *runner) segment(calls []session.Block) int {
	n := 0
	for n < len(calls) && r.reads(calls[n].Name) && r.repeats.count(calls[n]) < maxSame {
		n++
	}
	return max(n, 1)
}

func (r *runner) reads(name string) bool {
	tool, ok := r.tools[name]
	return ok && tool.Risk() == RiskRead
}

// writes reports whether a call may have changed something; of a tool that is not known
// no one can tell.
func (r *runner) writes(name string) bool {
	tool, ok := r.tools[name]
	return !ok || tool.Risk().Changes()
}

// runSegment runs the calls side by side and appends each result as soon as
// those before it are in the journal. It returns when every call has ended, also
// after an error of the journal, which stops the calls that still run.
func (r *runner) runSegment(ctx context.Context, calls []session.Block) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	slots := make(chan struct{}, maxParallel)
	results := make([]chan outcome, len(calls))
	for i, call := range calls {
		results[i] = make(chan outcome, 1)
		times := r.repeats.count(call)
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] <- r.execute(ctx, call, times)
		})
	}
	for i, call := range calls {
		result := <-results[i]
		if err := r.appendResult(ctx, call, result.Result); err != nil {
			return err
		}
		r.repeats.note(call, result.Result, r.writes(call.Name))
		if result.Closing != "" {
			r.closing = append(r.closing, result.Closing)
		}
		if result.ran && r.After != nil {
			r.After(ctx, r.call(call), result.Result)
		}
	}
	return nil
}

// outcome is the result of a call. ran is false if the call was not started.
type outcome struct {
	Result
	ran bool
}

// call returns a call as tools take it.
func (r *runner) call(block session.Block) Call {
	return Call{ID: block.ID, Name: block.Name, Arguments: block.Arguments, Cwd: r.Cwd, Images: r.Images}
}

// execute runs one call, or says why it does not. times is how often the same call
// has given the same result just before.
func (r *runner) execute(ctx context.Context, block session.Block, times int) outcome {
	tool, refusal := r.permitted(ctx, block, times)
	if tool == nil {
		return outcome{Result: refusal}
	}
	return outcome{r.start(ctx, tool, r.call(block)), true}
}

// permitted returns the tool that may run the call, or the result that says why none may.
func (r *runner) permitted(ctx context.Context, block session.Block, times int) (Tool, Result) {
	if ctx.Err() != nil {
		return nil, Failure("%s", TextNotStarted)
	}
	tool, ok := r.tools[block.Name]
	if !ok {
		return nil, Failure("There is no tool %q. The tools are: %s.", block.Name, strings.Join(r.toolNames(), ", "))
	}
	if text, invalid := invalidArguments(block.Arguments); invalid {
		return nil, Failure("Not executed: the arguments were not valid JSON (%s). Make the call again with one JSON object that fits the schema.", syntaxError(text))
	}
	if !r.ready(ctx) {
		return nil, Failure("%s", TextNotStarted)
	}
	if tool.Risk().Changes() || times >= maxSame {
		if refusal, allowed := r.ask(ctx, tool, r.call(block), times); !allowed {
			return nil, refusal
		}
	}
	return tool, Result{}
}

// ready waits until tools may run, and reports whether that happened before ctx ended.
func (r *runner) ready(ctx context.Context) bool {
	if r.Ready == nil {
		return true
	}
	select {
	case <-r.Ready:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *runner) toolNames() []string {
	names := make([]string, 0, len(r.specs))
	for _, spec := range r.specs {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	return names
}

// ask puts the call before the gate. Whatever is not a clear yes is a no, and a
// yes that comes after the cancel is one too late.
func (r *runner) ask(ctx context.Context, tool Tool, call Call, times int) (refusal Result, allowed bool) {
	what := tool.Describe(call)
	if times >= maxSame {
		what.Title = fmt.Sprintf("Once more, after the same result %d times: %s", times, what.Title)
		what.Insist = true
	}
	decision, err := r.Gate.Ask(ctx, call, what)
	var refused *Refusal
	switch {
	case errors.Is(err, ErrSuspended):
		r.suspended.Store(true)
		return Result{}, false
	case ctx.Err() != nil || errors.Is(err, context.Canceled) || decision == api.DecisionCancelled:
		return Failure("%s", TextNotStarted), false
	case errors.As(err, &refused):
		return Failure("%s", refused.Text), false
	case err != nil:
		return Failure("%s", TextNotApproved), false
	case decision == api.DecisionAllow:
		return Result{}, true
	}
	return Failure("%s", TextDenied), false
}

// start runs the tool. Output that comes after it returned goes nowhere.
func (r *runner) start(ctx context.Context, tool Tool, call Call) (result Result) {
	r.emit(api.ToolStarted{ToolCallID: call.ID, ToolName: call.Name})
	var mu sync.Mutex
	ended := false
	defer func() {
		mu.Lock()
		ended = true
		mu.Unlock()
		if fault := recover(); fault != nil {
			result = Failure("The tool %s failed because of a bug in it: %v. Try another way.", call.Name, fault)
		}
	}()
	return tool.Run(ctx, r.asking(call), func(output string) {
		mu.Lock()
		defer mu.Unlock()
		if !ended && output != "" {
			r.emit(api.ToolOutput{ToolCallID: call.ID, Delta: output})
		}
	})
}

func (r *runner) appendResult(ctx context.Context, call session.Block, result Result) error {
	if r.suspended.Load() {
		return ErrSuspended
	}
	content := result.Content
	if len(content) == 0 {
		content = session.Content{session.Text(TextNoOutput)}
	}
	if exactjson.DeeperThan(result.Details, exactjson.MaxDepth) {
		result.Details = nil // the text is all that the model reads
	}
	err := r.append(ctx, session.Message{
		Role:       session.RoleToolResult,
		ToolCallID: call.ID,
		ToolName:   call.Name,
		Content:    content,
		Details:    result.Details,
		IsError:    &result.IsError,
		Timestamp:  time.Now().UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("storing the result of %s: %w", call.Name, err)
	}
	return nil
}
