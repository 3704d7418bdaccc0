package fakeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/acp"
)

// prompt runs the script of a prompt.
func (a *agent) prompt(r *acp.Request) {
	var p acp.PromptRequest
	if err := r.Decode(&p); err != nil {
		r.Reply(nil, err)
		return
	}
	var text strings.Builder
	for _, block := range p.Prompt {
		text.WriteString(block.Text + "\n")
	}
	// The turn ends by being canceled, not with its request.
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	a.turns[p.SessionID] = cancel
	a.mu.Unlock()
	t := &turn{agent: a, session: p.SessionID, calls: map[string]acp.ToolCall{}}
	if prompts, err := a.load(p.SessionID); err == nil {
		t.prompts = append(prompts, text.String())
		if err := a.save(p.SessionID, t.prompts); err != nil {
			r.Reply(nil, err)
			return
		}
	}
	r.Go(func(context.Context) (any, error) {
		defer cancel()
		return t.run(ctx, text.String())
	})
}

// turn is one run of a script.
type turn struct {
	*agent
	session string
	prompts []string
	calls   map[string]acp.ToolCall
}

// errStop ends a script with a reason.
type errStop struct{ reason string }

func (e errStop) Error() string { return e.reason }

func (t *turn) run(ctx context.Context, script string) (any, error) {
	if _, after, quoted := strings.Cut(script, "</transcript>"); quoted { // what other agents did is not done again
		script = after
	}
	for line := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		err := t.step(ctx, word, rest)
		var stop errStop
		switch {
		case ctx.Err() != nil:
			return acp.PromptResponse{StopReason: acp.StopCancelled}, nil
		case errors.As(err, &stop):
			return acp.PromptResponse{StopReason: stop.reason}, nil
		case err != nil:
			return nil, err
		}
	}
	return acp.PromptResponse{StopReason: acp.StopEndTurn}, nil
}

func (t *turn) step(ctx context.Context, word, rest string) error {
	first, after, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(first)
	switch word {
	case "say":
		return t.say(acp.UpdateAgentChunk, rest)
	case "think":
		return t.say(acp.UpdateThoughtChunk, rest)
	case "call":
		kind, title, _ := strings.Cut(after, " ")
		return t.call(acp.UpdateToolCall, acp.ToolCall{ID: first, Kind: kind, Title: title, Status: acp.ToolPending, RawInput: inputOf(kind, title)})
	case "edit":
		return t.edit(first, after)
	case "file":
		kind, path, _ := strings.Cut(after, " ")
		return t.call(acp.UpdateToolCall, acp.ToolCall{ID: first, Kind: kind, Title: kind + " " + path, Status: acp.ToolPending, Locations: []acp.Location{{Path: path}}})
	case "run":
		return t.call(acp.UpdateToolChange, acp.ToolCall{ID: first, Status: acp.ToolInProgress})
	case "done":
		return t.end(first, acp.ToolCompleted, after)
	case "fail":
		return t.end(first, acp.ToolFailed, after)
	case "ask":
		return t.ask(ctx, first)
	case "form", "url":
		return t.elicit(ctx, word, first, after)
	case "update":
		return t.send(acp.Update{Kind: "raw", Raw: json.RawMessage(rest)})
	case "recall":
		return t.say(acp.UpdateAgentChunk, strings.Join(t.prompts, "\n"))
	case "environ":
		return t.say(acp.UpdateAgentChunk, strings.Join(os.Environ(), "\n"))
	case "mute":
		t.mu.Lock()
		defer t.mu.Unlock()
		t.mute = true
	case "mode":
		text := fmt.Sprintf("mode=%s model=%s loud=%s", t.mode(t.session), t.option(t.session, "model", "small"), t.option(t.session, "loud", "false"))
		if t.options.Trusts {
			text += " trust=" + t.option(t.session, "trust", "false")
		}
		return t.say(acp.UpdateAgentChunk, text)
	case "env":
		return t.say(acp.UpdateAgentChunk, first+"="+os.Getenv(first))
	case "stop":
		return errStop{rest}
	case "error":
		return acp.Errorf(acp.CodeInternal, "%s", rest)
	}
	return t.trouble(ctx, word, n, after)
}

// inputOf is the input of a call: a command where it is one.
func inputOf(kind, title string) json.RawMessage {
	input, _ := json.Marshal(map[string]string{"command": title})
	if kind != acp.ToolExecute {
		input, _ = json.Marshal(map[string]string{"title": title})
	}
	return input
}

func (t *turn) send(u acp.Update) error { return t.update(context.Background(), t.session, u) }

func (t *turn) say(kind, text string) error {
	block := acp.Text(text)
	return t.send(acp.Update{Kind: kind, Content: &block})
}

func (t *turn) call(kind string, call acp.ToolCall) error {
	known := t.calls[call.ID]
	known.ID = call.ID
	known.Apply(call)
	t.calls[call.ID] = known
	return t.send(acp.Update{Kind: kind, Tool: &call})
}

func (t *turn) end(id, status, text string) error {
	call := acp.ToolCall{ID: id, Status: status}
	if text != "" {
		call.Content = []acp.ToolContent{acp.Shown(acp.Text(text))}
	}
	return t.call(acp.UpdateToolChange, call)
}

func (t *turn) edit(id, path string) error {
	old := "old\n"
	return t.call(acp.UpdateToolCall, acp.ToolCall{
		ID: id, Kind: acp.ToolEdit, Title: "Edit " + path, Status: acp.ToolPending,
		Content: []acp.ToolContent{acp.Diff(path, &old, "new\n")}, Locations: []acp.Location{{Path: path, Line: 1}},
	})
}

// ask asks for permission, with options that are this agent's own.
func (t *turn) ask(ctx context.Context, id string) error {
	call := t.calls[id]
	call.ID = id
	var answer acp.PermissionResponse
	err := t.conn.Call(ctx, acp.MethodRequestPermission, acp.PermissionRequest{
		SessionID: t.session, ToolCall: call,
		Options: []acp.PermissionOption{
			{ID: "opt-once", Name: "Yes, just this time", Kind: acp.AllowOnce},
			{ID: "opt-prefix", Name: "Yes, and don't ask again for commands that start with `make`", Kind: acp.AllowAlways},
			{ID: "opt-no", Name: "No, tell the agent what to do instead", Kind: acp.RejectOnce},
		},
	}, &answer)
	if err != nil {
		return err
	}
	return t.say(acp.UpdateAgentChunk, strings.TrimSpace("chose "+answer.Outcome.Outcome+" "+answer.Outcome.OptionID)+"\n")
}

func (t *turn) elicit(ctx context.Context, mode, first, kind string) error {
	e := acp.Elicitation{SessionID: t.session, Mode: mode, Message: "The fake agent wants to know"}
	if mode == acp.ElicitURL {
		e.URL, e.ElicitationID = first, "e1"
	} else {
		field, err := json.Marshal(acp.FormField{Type: kind})
		if err != nil {
			return err
		}
		e.RequestedSchema = &acp.FormSchema{Type: "object", Properties: map[string]json.RawMessage{first: field}, Required: []string{first}}
	}
	var answer acp.ElicitationResponse
	if err := t.conn.Call(ctx, acp.MethodCreateElicitation, e, &answer); err != nil {
		return err
	}
	return t.say(acp.UpdateAgentChunk, fmt.Sprintf("%s %s", answer.Action, answer.Content[first]))
}

// trouble does what agents should not do.
func (t *turn) trouble(ctx context.Context, word string, n int, after string) error {
	switch word {
	case "flood":
		return t.flood(n)
	case "pace":
		seconds, _ := strconv.Atoi(after)
		return t.pace(ctx, n, seconds)
	case "line":
		return t.say(acp.UpdateAgentChunk, strings.Repeat("0123456789abcdef", n<<16))
	case "picture":
		return t.picture(n)
	case "garbage":
		for i := range n {
			if _, err := fmt.Fprintf(t.out, "warning %d: this is no message\n", i); err != nil {
				return err
			}
		}
	case "calls", "open":
		return t.many(word == "calls", n)
	case "wait":
		<-ctx.Done()
	case "silent", "hang":
		select {}
	case "crash":
		os.Exit(3)
	}
	return nil
}

// chunk is the line of a message's chunk, written by hand: the encoder takes longer than the host,
// which the tests are about. Its content needs no escapes.
const chunk = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":%s}}}` + "\n"

// floodBuffer is how much of a flood is written at once, in bytes.
const floodBuffer = 64 << 10

// flood sends n chunks of a message as fast as they are read.
func (t *turn) flood(n int) error {
	if err := t.conn.Flush(context.Background()); err != nil {
		return err
	}
	lines := make([]byte, 0, floodBuffer+1024)
	for i := range n {
		lines = fmt.Appendf(lines, chunk, t.session, fmt.Sprintf(`{"type":"text","text":"%d "}`, i))
		if len(lines) < floodBuffer && i < n-1 {
			continue
		}
		if _, err := t.out.Write(lines); err != nil {
			return err
		}
		lines = lines[:0]
	}
	return nil
}

// pace sends n chunks a second.
func (t *turn) pace(ctx context.Context, n, seconds int) error {
	const perTick = 2
	ticker := time.NewTicker(time.Second * perTick / time.Duration(max(n, 1)))
	defer ticker.Stop()
	for range n * seconds / perTick {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		for range perTick {
			if err := t.say(acp.UpdateAgentChunk, "word "); err != nil {
				return err
			}
		}
	}
	return nil
}

// picture sends a picture of that many MiB, as one line.
func (t *turn) picture(mib int) error {
	if err := t.conn.Flush(context.Background()); err != nil {
		return err
	}
	data := strings.Repeat("0123456789abcdef", mib<<16)
	_, err := fmt.Fprintf(t.out, chunk, t.session, `{"type":"image","mimeType":"image/png","data":"`+data+`"}`)
	return err
}

func (t *turn) many(ended bool, n int) error {
	for i := range n {
		id := fmt.Sprintf("m%d", i)
		err := t.call(acp.UpdateToolCall, acp.ToolCall{ID: id, Kind: acp.ToolRead, Title: "Read " + id, Status: acp.ToolInProgress})
		if err == nil && ended {
			err = t.end(id, acp.ToolCompleted, "ok")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
