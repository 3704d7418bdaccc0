package api

type (
	// ChannelSetting is what a person says to add a channel.
	ChannelSetting struct {
		Name     string `json:"name"`
		Usage    string `json:"usage"` // a few words for a person
		Secret   bool   `json:"secret,omitempty"`
		Optional bool   `json:"optional,omitempty"`
	}
	// ChannelPlatform is a chat platform that the host supports.
	ChannelPlatform struct {
		Kind     string           `json:"kind"`
		Title    string           `json:"title"`
		Settings []ChannelSetting `json:"settings"`
	}
	// ChannelSender is a person in a chat.
	ChannelSender struct {
		ID      string `json:"id"`
		Name    string `json:"name,omitempty"`
		AddedAt int64  `json:"addedAt,omitempty"` // Unix milliseconds; 0 for one who is not listed
	}
	// ChannelChat is a chat that is bound to a project, or one whose messages are ignored.
	ChannelChat struct {
		ID       string  `json:"id"`                 // the platform's
		ClientID string  `json:"clientId,omitempty"` // in the log of sessions; "" for a chat that is not bound
		Title    string  `json:"title,omitempty"`
		Direct   bool    `json:"direct,omitempty"` // only one person and the bot are in it
		Project  string  `json:"projectId,omitempty"`
		Session  string  `json:"sessionId,omitempty"` // that its messages go to
		Grants   []Grant `json:"grants,omitempty"`
		// ExpiresAt is when the chat's access ends, in Unix milliseconds; 0 means never.
		ExpiresAt int64           `json:"expiresAt,omitempty"`
		BoundAt   int64           `json:"boundAt,omitempty"` // Unix milliseconds
		Senders   []ChannelSender `json:"senders"`
		// Ignored are people who wrote to the bot lately and are not listed.
		Ignored []ChannelSender `json:"ignored,omitempty"`
	}
	// ChannelState is whether messages arrive.
	ChannelState string
	// Channel is a bot on a chat platform.
	Channel struct {
		ID       string            `json:"id"`
		Kind     string            `json:"kind"`
		Name     string            `json:"name"`
		Settings map[string]string `json:"settings,omitempty"` // those that are not secret
		State    ChannelState      `json:"state"`
		Problem  string            `json:"problem,omitempty"` // why messages do not arrive or were not sent, one sentence
		Bot      string            `json:"bot,omitempty"`     // as people address the bot
		Link     string            `json:"link,omitempty"`    // opens a chat with the bot
		AddedAt  int64             `json:"addedAt"`           // Unix milliseconds
		Waiting  int               `json:"waiting,omitempty"` // messages that were not sent yet
		Chats    []ChannelChat     `json:"chats"`
	}

	ListChannelsResponse struct {
		Channels  []Channel         `json:"channels"`
		Platforms []ChannelPlatform `json:"platforms"`
	}
	// AddChannelRequest adds a channel, once for each ClientKey.
	AddChannelRequest struct {
		ClientKey string            `json:"clientKey" req:"min=1"`
		Kind      string            `json:"kind" req:"min=1,max=64"`
		Name      string            `json:"name,omitempty" req:"max=64"` // for people; "" is the platform's name
		Settings  map[string]string `json:"settings"`                    // also those that are secret
	}
	ChannelRequest struct {
		ID string `json:"id" req:"min=1,max=64"`
	}
	ChannelResponse struct {
		Channel Channel `json:"channel"`
	}
	// PairChannelRequest asks for a code that binds the chat in which it is typed.
	PairChannelRequest struct {
		ID        string `json:"id" req:"min=1,max=64"`
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		// Grants are what the chat may do; none means view, prompt, approve and files, as far
		// as the client that asks has them.
		Grants    []Grant `json:"grants,omitempty" req:"max=8"`
		ExpiresAt int64   `json:"expiresAt,omitempty" req:"min=0"` // of the chat's access; 0 means never
	}
	PairChannelResponse struct {
		Code      string `json:"code"`
		ExpiresAt int64  `json:"expiresAt"` // of the code, in Unix milliseconds
		Bot       string `json:"bot,omitempty"`
		Link      string `json:"link,omitempty"`
	}
	// AllowSenderRequest lists a sender of a bound chat, or removes one from the list.
	AllowSenderRequest struct {
		ID       string `json:"id" req:"min=1,max=64"`
		ChatID   string `json:"chatId" req:"min=1,max=128"`
		SenderID string `json:"senderId" req:"min=1,max=128"`
		Allowed  bool   `json:"allowed"`
	}
	RemoveChatRequest struct {
		ID     string `json:"id" req:"min=1,max=64"`
		ChatID string `json:"chatId" req:"min=1,max=128"`
	}
)

// States of channels.
const (
	ChannelConnecting ChannelState = "connecting"
	ChannelConnected  ChannelState = "connected"
	ChannelFailed     ChannelState = "failed" // it is tried again, unless the token is rejected
)
