package slack

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Bounds of what is remembered.
const (
	maxNames   = 500 // names of people and channels
	maxHistory = 10  // pages of 100 messages of a chat
)

// event is a message, as it arrives, is edited or is deleted, or as the history has it.
type event struct {
	Type     string    `json:"type"`
	Subtype  string    `json:"subtype"`
	Channel  string    `json:"channel"`
	Kind     string    `json:"channel_type"`
	User     string    `json:"user"`
	Bot      string    `json:"bot_id"`
	Text     string    `json:"text"`
	Time     string    `json:"ts"`
	Thread   string    `json:"thread_ts"`
	Parent   string    `json:"parent_user_id"`
	Files    []file    `json:"files"`
	Edited   *edit     `json:"edited"`
	Deleted  string    `json:"deleted_ts"`
	Message  *event    `json:"message"`
	Previous *previous `json:"previous_message"`
}

type edit struct {
	Time string `json:"ts"`
}

type previous struct {
	Thread string `json:"thread_ts"`
}

type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Mimetype string `json:"mimetype"`
	Size     int64  `json:"size"`
}

// press is a press of a button.
type press struct {
	Type string `json:"type"`
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	Channel struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"channel"`
	Message struct {
		Time   string `json:"ts"`
		Thread string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		Value string `json:"value"`
		Time  string `json:"action_ts"`
	} `json:"actions"`
}

// reader turns the envelopes of one Run into updates.
type reader struct {
	p      *Platform
	in     channel.Inbound
	me     channel.Identity
	now    channel.Recent // what continues after a restart
	people map[string]channel.Sender
	places map[string]channel.Chat
}

// Run implements channel.Platform.
func (p *Platform) Run(ctx context.Context, stored []byte, in channel.Inbound) error {
	r := &reader{p: p, in: in, people: map[string]channel.Sender{}, places: map[string]channel.Chat{}}
	_ = json.Unmarshal(stored, &r.now) // a first run has none
	var err error
	if r.me, err = p.Check(ctx); err != nil {
		return err
	}
	s, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		e, err := s.next(ctx)
		if err != nil {
			return err
		}
		switch e.Type {
		case "hello":
			// The events of what it reads may arrive too, with the same ids.
			if err := r.now.CatchUp(ctx, r.history); err != nil {
				return err
			}
			if err := r.store(ctx, channel.Update{}); err != nil {
				return err
			}
			in.Connected()
		case "disconnect":
			return fmt.Errorf("slack: Slack asks to connect again: %s", channel.CleanName(e.Reason))
		}
		if e.ID == "" {
			continue
		}
		if err := r.take(ctx, e); err != nil {
			return err
		}
		if err := s.ack(ctx, e.ID); err != nil {
			return err
		}
	}
}

// take takes an envelope. What cannot be read is skipped: Slack would send it again and again.
func (r *reader) take(ctx context.Context, e envelope) error {
	switch e.Type {
	case "events_api":
		var payload struct {
			Event event `json:"event"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil
		}
		return r.event(ctx, payload.Event)
	case "interactive":
		var p press
		if err := json.Unmarshal(e.Payload, &p); err != nil || p.Type != "block_actions" || len(p.Actions) == 0 {
			return nil
		}
		return r.pressed(ctx, p)
	}
	return nil
}

func (r *reader) event(ctx context.Context, e event) error {
	switch {
	case e.Type != "message" && e.Type != "app_mention":
	case e.Subtype == "message_changed" && e.Message != nil:
		m := *e.Message
		m.Channel, m.Kind = e.Channel, e.Kind
		if m.Edited != nil { // otherwise Slack has only added a preview
			return r.said(ctx, m, true)
		}
	case e.Subtype == "message_deleted":
		return r.deleted(ctx, e)
	default:
		return r.said(ctx, e, false)
	}
	return nil
}

// store stores an update together with the position.
func (r *reader) store(ctx context.Context, u channel.Update) error {
	text, err := json.Marshal(r.now)
	if err != nil {
		return fmt.Errorf("slack: %w", err)
	}
	u.Cursor = text
	return r.in.Take(ctx, u)
}
