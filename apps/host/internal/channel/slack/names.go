package slack

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// chat finds out what a conversation is called. Without the scope to ask, it has no name.
func (r *reader) chat(ctx context.Context, id, thread, kind string) (channel.Chat, error) {
	chat, known := r.places[id]
	if !known {
		chat = channel.Chat{ID: id, Direct: kind == "im" || kind == "" && strings.HasPrefix(id, "D")}
		if !chat.Direct {
			info, err := r.p.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
			if limited := r.p.limited(err); limited != nil {
				return chat, limited
			}
			if err == nil {
				chat.Title, chat.Direct = info.Name, info.IsIM
			}
		}
		if len(r.places) >= maxNames {
			clear(r.places)
		}
		r.places[id] = chat
	}
	chat.Direct = chat.Direct || kind == "im"
	if thread != "" {
		chat.ID += "/" + thread
	}
	return chat, nil
}

func (r *reader) person(ctx context.Context, id string) (channel.Sender, error) {
	from, known := r.people[id]
	if known {
		return from, nil
	}
	from = channel.Sender{ID: id}
	info, err := r.p.api.GetUserInfoContext(ctx, id)
	if limited := r.p.limited(err); limited != nil {
		return from, limited
	}
	if err == nil {
		from.Name, from.Bot = info.RealName, info.IsBot
		if from.Name == "" {
			from.Name = info.Name
		}
	}
	if len(r.people) >= maxNames {
		clear(r.people)
	}
	r.people[id] = from
	return from, nil
}

// limited returns an error that ends the connection: names are worth waiting for when Slack
// asks to wait, and not when it does not tell them.
func (p *Platform) limited(err error) error {
	var limit *channel.RateLimited
	if err = p.explain("asking for a name", err); errors.As(err, &limit) {
		return limit
	}
	return nil
}
