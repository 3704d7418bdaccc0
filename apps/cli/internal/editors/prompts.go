package editors

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxPromptText bounds the text of a prompt, in bytes.
const maxPromptText = 1 << 20

// prompt sends a prompt and answers when its turn has ended and all updates of it were sent.
func (s *server) prompt(ctx context.Context, r acp.PromptRequest) (any, error) {
	o, err := s.session(r.SessionID)
	if err != nil {
		return nil, err
	}
	blocks, err := o.blocks(r.Prompt)
	if err != nil {
		return nil, err
	}
	if name, isCommand := strings.CutPrefix(strings.TrimSpace(textOf(blocks)), "/compact"); isCommand && (name == "" || name[0] == ' ') {
		return o.compact(ctx, strings.TrimSpace(name))
	}
	key := rand.Text()
	p, err := o.expect(key)
	if err != nil {
		return nil, err
	}
	request := api.SendPromptRequest{SessionID: o.id, ClientKey: key}
	if len(blocks) == 1 && blocks[0].Type == session.BlockText {
		request.Text = blocks[0].Text
	}
	if err := o.deliver(ctx, request, blocks); err != nil {
		o.end(key, promptEnd{}) // no one waits for it
		<-p.done
		return nil, err
	}
	select {
	case end := <-p.done:
		return acp.PromptResponse{StopReason: end.reason}, end.err
	case <-ctx.Done(): // with $/cancel_request, or the connection
		o.wantCancel()
		return nil, ctx.Err()
	}
}

// deliver uploads the images of a prompt and sends it. Repeating either changes nothing.
func (o *open) deliver(ctx context.Context, request api.SendPromptRequest, blocks []api.PromptBlock) error {
	_, err := feed.With(ctx, o.s.host, func(c *client.Client) (api.SendPromptResponse, error) {
		if request.Text == "" {
			request.Content = slices.Clone(blocks)
			for i, block := range request.Content {
				if block.Data == "" {
					continue
				}
				data, err := base64.StdEncoding.DecodeString(block.Data)
				if err != nil {
					return api.SendPromptResponse{}, acp.Errorf(acp.CodeInvalidParams, "an image of the prompt is not base64: %v", err)
				}
				hash, err := client.Upload(ctx, c, data)
				if err != nil {
					return api.SendPromptResponse{}, err
				}
				request.Content[i] = api.PromptBlock{Type: session.BlockImage, SHA256: hash}
			}
		}
		return client.Call(ctx, c, api.SendPrompt, request)
	})
	return err
}

// maxPrompts bounds the prompts of one session that wait for the ends of their turns.
const maxPrompts = 32

func (o *open) expect(key string) (*prompted, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failed != nil:
		return nil, o.failed
	case len(o.prompts) >= maxPrompts:
		return nil, acp.Errorf(acp.CodeInternal, "%d prompts of this session wait already: wait until one has run, or cancel one", maxPrompts)
	}
	p := &prompted{done: make(chan promptEnd, 1)}
	o.prompts[key] = p
	return p, nil
}

func (o *open) end(key string, end promptEnd) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.prompts[key]; p != nil {
		delete(o.prompts, key)
		p.done <- end
	}
}

func endOf(e api.TurnEnded) promptEnd {
	switch e.StopReason {
	case session.StopLength:
		return promptEnd{reason: acp.StopMaxTokens}
	case session.StopAborted:
		return promptEnd{reason: acp.StopCancelled}
	case session.StopError:
		return promptEnd{err: acp.Errorf(acp.CodeInternal, "%s", e.Error)}
	}
	return promptEnd{reason: acp.StopEndTurn}
}

// turnState notes which prompts wait and which one runs, and wakes those who cancel one.
func (o *open) turnState() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turn, o.queue = nil, slices.Clone(o.view.live.Queue)
	for _, q := range o.queue {
		o.seenLocked(q.ClientKey)
	}
	if turn := o.view.live.Turn; turn != nil {
		copied := *turn
		o.turn = &copied
		o.seenLocked(turn.ClientKey)
	}
	close(o.moved)
	o.moved = make(chan struct{})
}

// seen notes that the session has a prompt.
func (o *open) seen(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seenLocked(key)
}

func (o *open) seenLocked(key string) {
	if p := o.prompts[key]; p != nil {
		p.seen = true
	}
}

// lostPrompts ends prompts whose turn ended while there was no connection, after a state of the
// session was loaded: those that it had, and neither runs nor keeps.
func (o *open) lostPrompts() {
	o.mu.Lock()
	var lost []string
	for key, p := range o.prompts {
		running := o.turn != nil && o.turn.ClientKey == key
		queued := slices.ContainsFunc(o.queue, func(q session.QueuedPrompt) bool { return q.ClientKey == key })
		if p.seen && !running && !queued {
			lost = append(lost, key)
		}
	}
	o.mu.Unlock()
	for _, key := range lost {
		o.end(key, o.view.endOf(key))
	}
}

// wantCancel ends the prompts of this editor.
func (o *open) wantCancel() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, p := range o.prompts {
		if !p.cancelled && o.ctx.Err() == nil {
			p.cancelled = true
			o.work.Go(func() { o.cancelPrompt(key) })
		}
	}
}

// cancelPrompt removes a prompt from the queue, or cancels its turn, as soon as the session has it
// in one of both places.
func (o *open) cancelPrompt(key string) {
	for {
		o.mu.Lock()
		turn, queue, waits, moved := o.turn, slices.Clone(o.queue), o.prompts[key] != nil, o.moved
		o.mu.Unlock()
		if !waits {
			return
		}
		if turn != nil && turn.ClientKey == key && !turn.Cancelling {
			if _, err := do(o.ctx, o.s, api.CancelTurn, api.CancelTurnRequest{SessionID: o.id, TurnID: turn.TurnID}); err != nil {
				o.s.cfg.Logger.Warn("canceling a turn", "error", err)
			}
		} else if edit, ok := without(o.id, queue, key); ok {
			_, _ = do(o.ctx, o.s, api.EditQueue, edit) // refused if the queue changed: then it is tried again
		}
		select {
		case <-o.ctx.Done():
			return
		case <-moved:
		}
	}
}

func without(id string, queue []session.QueuedPrompt, key string) (api.EditQueueRequest, bool) {
	edit := api.EditQueueRequest{SessionID: id, Expected: []string{}, Items: []api.QueueItem{}}
	found := false
	for _, q := range queue {
		edit.Expected = append(edit.Expected, q.ClientKey)
		if q.ClientKey == key {
			found = true
			continue
		}
		edit.Items = append(edit.Items, api.QueueItem{ClientKey: q.ClientKey})
	}
	return edit, found
}

func (o *open) compact(ctx context.Context, focus string) (any, error) {
	_, err := do(ctx, o.s, api.CompactSession, api.CompactSessionRequest{SessionID: o.id, ClientKey: rand.Text(), Instructions: focus})
	return acp.PromptResponse{StopReason: acp.StopEndTurn}, err
}

func textOf(blocks []api.PromptBlock) string {
	var texts []string
	for _, block := range blocks {
		texts = append(texts, block.Text)
	}
	return strings.Join(texts, "")
}

// blocks converts a prompt. Neighboring texts become one.
func (o *open) blocks(prompt []acp.ContentBlock) ([]api.PromptBlock, error) {
	var out []api.PromptBlock
	size := 0
	text := func(text string) {
		size += len(text)
		if n := len(out); n > 0 && out[n-1].Type == session.BlockText {
			out[n-1].Text += text
			return
		}
		out = append(out, api.PromptBlock{Type: session.BlockText, Text: text})
	}
	for _, block := range prompt {
		switch {
		case block.Type == acp.BlockText:
			text(block.Text)
		case block.Type == acp.BlockImage:
			out = append(out, api.PromptBlock{Type: session.BlockImage, Data: block.Data})
		case block.Type == acp.BlockResourceLink:
			text(o.mention(block.URI, block.Name))
		case block.Type == acp.BlockResource && block.Resource != nil && block.Resource.Blob == "":
			text(fmt.Sprintf("\n\n%s:\n```\n%s\n```\n\n", o.mention(block.Resource.URI, ""), strings.TrimSuffix(block.Resource.Text, "\n")))
		case block.Type == acp.BlockResource && block.Resource != nil && strings.HasPrefix(block.Resource.MimeType, "image/"):
			out = append(out, api.PromptBlock{Type: session.BlockImage, Data: block.Resource.Blob})
		default:
			return nil, acp.Errorf(acp.CodeInvalidParams, "prompts with content of the type %.40q are not supported", block.Type)
		}
		if size > maxPromptText {
			return nil, acp.Errorf(acp.CodeInvalidParams, "the text of the prompt is longer than 1 MiB: refer to files instead of pasting them")
		}
	}
	if len(out) == 0 {
		return nil, acp.Errorf(acp.CodeInvalidParams, "the prompt is empty")
	}
	return out, nil
}

// mention names a resource as the agent can find it: files of the session's folder by their path
// in it.
func (o *open) mention(uri, name string) string {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" {
		if name != "" {
			return fmt.Sprintf("[%s](%s)", name, uri)
		}
		return uri
	}
	path := filepath.FromSlash(parsed.Path)
	if rel, err := filepath.Rel(o.cwd, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	if parsed.Fragment != "" {
		return "@" + path + "#" + parsed.Fragment
	}
	return "@" + path
}
