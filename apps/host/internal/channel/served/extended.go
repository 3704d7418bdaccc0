package served

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// declares reports whether a request says that its client knows scorel/channel: in the first
// request of a session, or in every one since the revision of MCP without sessions.
func declares(params json.RawMessage) bool {
	type capabilities struct {
		Experimental map[string]any `json:"experimental"`
	}
	var p struct {
		Capabilities capabilities               `json:"capabilities"`
		Meta         map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	var meta capabilities
	if raw := p.Meta[sdk.MetaKeyClientCapabilities]; raw != nil && json.Unmarshal(raw, &meta) != nil {
		return false
	}
	return p.Capabilities.Experimental[wire.Extended] != nil || meta.Experimental[wire.Extended] != nil
}

// serveExtended adds the tools of the protocol.
func (s *server) serveExtended(m *sdk.Server) {
	s.extended.Store(true)
	add(m, wire.ToolCheck, "Asks the platform who the bot is.", s.check)
	add(m, wire.ToolSend, "Sends a message.", s.send)
	add(m, wire.ToolChange, "Replaces a message.", s.change)
	add(m, wire.ToolAnswer, "Answers a press of a button.", s.confirm)
	add(m, wire.ToolRead, "Reads a part of a file of a message.", s.readFile)
	add(m, wire.ToolWrite, "Writes a part of a file that is sent next.", s.writeFile)
}

// add adds a tool whose failures are results.
func add[In any](m *sdk.Server, name, description string, run func(context.Context, In) (wire.Result, error)) {
	handler := func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, wire.Result, error) {
		result, err := run(ctx, in)
		if err != nil {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}, wire.Failed(err), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{}}, result, nil // not twice
	}
	sdk.AddTool(m, &sdk.Tool{Name: name, Description: description + " For programs that know scorel/channel."}, handler)
}

func (s *server) acked(params json.RawMessage) {
	var ack wire.Ack
	if json.Unmarshal(params, &ack) != nil {
		return
	}
	for {
		select {
		case s.acks <- ack.ID:
			return
		default:
		}
		select {
		case <-s.acks: // nothing waited for it
		default:
		}
	}
}

// pass hands an update to a client that acknowledges it, and waits for that.
func (s *server) pass(ctx context.Context, u channel.Update, heard bool) error {
	if !heard {
		_, err := s.store(u, false)
		return err
	}
	if err := s.meet(u); err != nil {
		return err
	}
	cursor := u.Cursor
	u.Cursor = nil
	if err := s.notify(ctx, wire.MethodUpdate, wire.Update{Update: u}); err != nil {
		return err
	}
	for {
		select {
		case id := <-s.acks:
			if id != u.ID {
				continue // of an update before it
			}
			u.Cursor = cursor
			_, err := s.store(u, false)
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// meet adds the chat of a message to those in which the client may write, before it can answer.
func (s *server) meet(u channel.Update) error {
	if u.Message == nil || s.known(u.Message.Chat.ID) == nil {
		return nil
	}
	_, err := s.store(channel.Update{ID: "chat " + u.Message.Chat.ID, Message: u.Message}, true)
	return err
}

// here refuses chats in which no allowed sender has written.
func (s *server) here(chat string) error {
	if err := s.known(chat); err != nil {
		return fmt.Errorf("%w: %w", channel.ErrChatGone, err)
	}
	return nil
}

func (s *server) check(ctx context.Context, _ struct{}) (wire.Result, error) {
	who, err := s.Platform.Check(ctx)
	return wire.Result{ID: who.ID, Name: who.Name, Link: who.Link}, err
}

func (s *server) send(ctx context.Context, m wire.Message) (wire.Result, error) {
	if err := s.here(m.Chat); err != nil {
		return wire.Result{}, err
	}
	out, err := s.outgoing(m)
	if err != nil {
		return wire.Result{}, err
	}
	id, err := s.Platform.Send(ctx, m.Chat, out)
	if err == nil && m.File != nil {
		s.opened.forget(m.File.Upload)
	}
	return wire.Result{ID: id}, err
}

func (s *server) change(ctx context.Context, m wire.Message) (wire.Result, error) {
	if err := s.here(m.Chat); err != nil {
		return wire.Result{}, err
	}
	out, err := s.outgoing(m)
	if err != nil {
		return wire.Result{}, err
	}
	return wire.Result{}, s.Platform.Edit(ctx, m.Chat, m.ID, out)
}

// outgoing checks a message against the bounds of the contract.
func (s *server) outgoing(m wire.Message) (channel.Outgoing, error) {
	out, limits, n := m.Outgoing(), s.Platform.Limits(), 0
	for _, part := range out.Text {
		n += limits.Units(part)
	}
	tooLong := func(b channel.Button) bool { return len(b.Data) > channel.MaxData || b.Data == "" }
	if n > limits.Text || len(out.Buttons) > channel.MaxButtons || slices.ContainsFunc(out.Buttons, tooLong) {
		return out, fmt.Errorf("the message is too long: %w", channel.ErrRejected)
	}
	if m.File == nil {
		return out, nil
	}
	data, err := s.opened.written(m.File.Upload)
	if err != nil {
		return out, err
	}
	out.File = &channel.Upload{Name: m.File.Name, MIME: m.File.MIME, Size: int64(len(data)), Open: opener(data)}
	return out, nil
}

func (s *server) confirm(ctx context.Context, n wire.Notice) (wire.Result, error) {
	return wire.Result{}, s.Platform.Answer(ctx, channel.Press{Chat: channel.Chat{ID: n.Chat}, Ref: n.Ref}, n.Notice)
}

func (s *server) readFile(_ context.Context, c wire.Chunk) (wire.Result, error) {
	data, last, err := s.opened.read(c.Ref, c.At, func() (source, error) { return s.Platform.Fetch(s.life, channel.File{Ref: c.Ref}) })
	return wire.Result{Data: base64.StdEncoding.EncodeToString(data), Last: last}, err
}

func (s *server) writeFile(_ context.Context, c wire.Chunk) (wire.Result, error) {
	data, err := base64.StdEncoding.DecodeString(c.Data)
	if err != nil || len(data) > wire.MaxChunk {
		return wire.Result{}, errors.Join(channel.ErrRejected, err)
	}
	return wire.Result{}, s.opened.write(c.Upload, c.At, data)
}
