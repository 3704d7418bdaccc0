package api

// PushKind is how notifications reach a person.
type PushKind string

const (
	PushWeb  PushKind = "web"  // the push service of a browser, encrypted for that browser
	PushNtfy PushKind = "ntfy" // a topic of an ntfy or UnifiedPush server, which can read it
	PushChat PushKind = "chat" // a chat of a channel, which its platform and members can read
)

// PushLevel is how much a person wants to be notified of.
type PushLevel string

const (
	PushAll   PushLevel = "all"   // also of turns that ended
	PushNeeds PushLevel = "needs" // of what waits for a person, and of failures
	PushNone  PushLevel = "none"
)

// PushLevels lists the levels, from most to least.
func PushLevels() []PushLevel { return []PushLevel{PushAll, PushNeeds, PushNone} }

type (
	// PushSubscription is where the host sends notifications of one client.
	PushSubscription struct {
		ID       string   `json:"id"`
		ClientID string   `json:"clientId"` // whose it is; "host" is this machine's user
		Kind     PushKind `json:"kind"`
		// Server is the server that passes notifications on, without the secret part of the
		// address.
		Server  string `json:"server"`
		Label   string `json:"label,omitempty"`
		Reduced bool   `json:"reduced,omitempty"` // notifications say only that a session needs someone
		AddedAt int64  `json:"addedAt"`           // Unix milliseconds
		// LastAt is when the last delivery ended, in Unix milliseconds; 0 means there was none.
		LastAt int64 `json:"lastAt,omitempty"`
		// LastError says why the last delivery failed; "" if it did not.
		LastError string `json:"lastError,omitempty"`
		// Waiting is how many notifications wait to be sent.
		Waiting int `json:"waiting,omitempty"`
	}
	// PushQuiet are the hours in which a client is not notified. It is empty, or has all of
	// its fields.
	PushQuiet struct {
		From string `json:"from,omitempty" req:"max=64"` // such as "22:00"
		To   string `json:"to,omitempty" req:"max=64"`   // such as "07:30"; before From, it is that of the next day
		Zone string `json:"zone,omitempty" req:"max=64"` // such as "Europe/Berlin"
	}
	// PushSettings say what a client is notified of.
	PushSettings struct {
		ClientID string     `json:"clientId"`
		Level    PushLevel  `json:"level"`
		Quiet    *PushQuiet `json:"quiet,omitempty"` // absent for none
		// Sessions have a level of their own.
		Sessions []PushSession `json:"sessions,omitempty"`
	}
	// PushSession is the level of one session.
	PushSession struct {
		SessionID string    `json:"sessionId"`
		Level     PushLevel `json:"level"`
	}

	// ListPushRequest asks for what one client has, or with All for what every client has.
	ListPushRequest struct {
		ClientID string `json:"clientId,omitempty" req:"max=256"` // "" is the client that asks
		All      bool   `json:"all,omitempty"`
	}
	ListPushResponse struct {
		// Key is the VAPID public key of the host, in base64url, with which browsers subscribe.
		Key           string             `json:"key"`
		Subscriptions []PushSubscription `json:"subscriptions"`
		Settings      []PushSettings     `json:"settings"`
		// QuietUntil is when the quiet hours end that the client is in now, in Unix
		// milliseconds; 0 if it is in none, or with All.
		QuietUntil int64 `json:"quietUntil,omitempty"`
	}
	// AddPushRequest adds a subscription of the client that asks, or of a chat. One with the
	// same address is replaced.
	AddPushRequest struct {
		Kind PushKind `json:"kind" req:"min=1,max=64"`
		// URL is the endpoint of a browser's subscription, the topic of an ntfy server, or the
		// clientId of a chat, whose subscription it is then.
		URL    string `json:"url" req:"min=1,max=1024"`
		P256dh string `json:"p256dh,omitempty" req:"max=128"` // of a browser's subscription, in base64url
		Auth   string `json:"auth,omitempty" req:"max=64"`    // of a browser's subscription, in base64url
		Label  string `json:"label,omitempty" req:"max=64"`
		// Page is the address of the web UI that notifications of ntfy open.
		Page    string `json:"page,omitempty" req:"max=256"`
		Reduced bool   `json:"reduced,omitempty"`
	}
	PushRequest struct {
		ID string `json:"id" req:"min=1,max=64"`
	}
	PushResponse struct {
		Subscription PushSubscription `json:"subscription"`
	}
	// SetPushRequest changes the settings of a client. What is absent stays as it is.
	SetPushRequest struct {
		ClientID string `json:"clientId,omitempty" req:"max=256"` // "" is the client that asks
		// Level applies to the session that SessionID names, or else to all that have no level
		// of their own.
		Level     PushLevel  `json:"level,omitempty" req:"max=64"`
		SessionID string     `json:"sessionId,omitempty" req:"max=256"` // with no Level, the session's own level is removed
		Quiet     *PushQuiet `json:"quiet,omitempty"`                   // an empty one removes the quiet hours
	}
	PushSettingsResponse struct {
		Settings PushSettings `json:"settings"`
	}
)
