package chats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// said is what an entry says to people in a chat, in Markdown.
func said(e session.Entry) string {
	if e.Role() == session.RoleAssistant {
		if m, ok := e.AsMessage(); ok {
			return m.Message.Content.Plain()
		}
	}
	if e.CustomType != session.CustomTurn {
		return ""
	}
	custom, ok := e.AsCustom()
	if !ok {
		return ""
	}
	var turn session.TurnRecord
	if err := json.Unmarshal(custom.Data, &turn); err != nil {
		return ""
	}
	switch {
	case turn.StopReason == session.StopAborted && turn.HostEnded:
		return "The turn ended because the host stopped. Write to continue."
	case turn.StopReason == session.StopAborted:
		return "The turn was canceled."
	case turn.Error != "":
		return "The turn failed: " + turn.Error
	}
	return ""
}

// approvalOf returns what an entry says of an approval; false if it is about something else.
func approvalOf(e session.Entry) (record session.ApprovalRecord, ok bool) {
	ok = customOf(e, session.CustomApproval, &record)
	return record, ok
}

// questionOf returns what an entry says of a question.
func questionOf(e session.Entry) (record session.QuestionRecord, ok bool) {
	ok = customOf(e, session.CustomQuestion, &record)
	return record, ok
}

// customOf reads an entry of a type; false for another one.
func customOf(e session.Entry, of string, record any) bool {
	if e.CustomType != of {
		return false
	}
	custom, ok := e.AsCustom()
	return ok && json.Unmarshal(custom.Data, record) == nil
}

// readFile reads a file of a project as the chat may read it.
func (t *talk) readFile(ctx context.Context, f *sentFile) ([]byte, error) {
	c, err := t.client(ctx)
	if err != nil {
		return nil, err
	}
	request := api.ReadFileRequest{Place: api.Place{ProjectID: f.Project, SessionID: f.Session}, Path: f.Path, Raw: true}
	var data []byte
	for {
		part, err := client.Call(ctx, c, api.ReadFile, request)
		if err != nil {
			return nil, err
		}
		if part.Size > channel.MaxFile {
			return nil, errors.New("it is too large")
		}
		raw, err := base64.StdEncoding.DecodeString(part.Data)
		if err != nil {
			return nil, err
		}
		if data = append(data, raw...); part.Next <= request.From || len(data) > channel.MaxFile {
			return data, nil
		}
		request.From = part.Next
	}
}
