package slack

import (
	"context"
	"slices"
	"strings"

	"github.com/slack-go/slack"
)

// history reads what was written in a chat after a message.
func (r *reader) history(ctx context.Context, id, after string) error {
	place, thread, _ := strings.Cut(id, "/")
	var found []slack.Message
	next := ""
	for range maxHistory {
		page, more, err := r.page(ctx, place, thread, after, next)
		if err != nil {
			return r.p.explain("reading what was written meanwhile", err)
		}
		found = append(found, page...)
		if next = more; next == "" {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b slack.Message) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	for _, m := range found {
		if m.Timestamp <= after {
			continue // a thread's first message is always there
		}
		if err := r.said(ctx, fromHistory(m, place), false); err != nil {
			return err
		}
	}
	return nil
}

// page reads a part of a history, and returns where the next begins, or "".
func (r *reader) page(ctx context.Context, place, thread, after, next string) ([]slack.Message, string, error) {
	if thread != "" {
		page, _, more, err := r.p.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: place, Timestamp: thread, Oldest: after, Cursor: next, Limit: 100,
		})
		return page, more, err
	}
	page, err := r.p.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: place, Oldest: after, Cursor: next, Limit: 100})
	if err != nil {
		return nil, "", err
	}
	return page.Messages, page.ResponseMetaData.NextCursor, nil
}

func fromHistory(m slack.Message, place string) event {
	e := event{
		Type: "message", Subtype: m.SubType, Channel: place, User: m.User, Bot: m.BotID, Text: m.Text, Time: m.Timestamp,
		Thread: m.ThreadTimestamp, Parent: m.ParentUserId,
	}
	for _, f := range m.Files {
		e.Files = append(e.Files, file{ID: f.ID, Name: f.Name, Mimetype: f.Mimetype, Size: int64(f.Size)})
	}
	return e
}
