// Package push sends notifications to an address that a person gave: to the push service of a
// browser, encrypted for that browser alone, or to a topic of an ntfy server. Who is notified,
// when and of what is decided by its caller.
//
// An address comes from a client, so that requests to it are limited: https only, to public
// addresses unless this machine's user gave the address, without redirects, and with bounds on
// time and size. No answer of a server changes anything but its own subscription.
package push

import (
	"context"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// MaxBytes is the longest content of a notification, in bytes.
const MaxBytes = 3000

// Address is where notifications are sent.
type Address struct {
	URL    string `json:"url"`
	P256dh string `json:"p256dh,omitempty"` // public key of the browser, in base64url
	Auth   string `json:"auth,omitempty"`   // secret of the browser, in base64url
	Page   string `json:"page,omitempty"`   // of the web UI that a notification opens
	// Private says that this machine's user gave the address: it may be one of the local
	// network, and may use http.
	Private bool `json:"private,omitempty"`
}

// Message is a notification. Its JSON form is what the service worker of the page reads.
type Message struct {
	Version int    `json:"v"`
	Kind    string `json:"kind"`
	Device  string `json:"device"`
	Tag     string `json:"tag"`               // a later message with the same tag replaces this one
	Session string `json:"session,omitempty"` // that a person has to look at
	// Asks is the session of the approval or question, which may be that of a subagent.
	Asks     string `json:"asks,omitempty"`
	Title    string `json:"title"`
	Text     string `json:"text,omitempty"`
	Count    int    `json:"count,omitempty"` // how many things wait, if more than one
	Approval string `json:"approval,omitempty"`
	Shown    string `json:"shown,omitempty"` // the hash of what the approval allows
	Question string `json:"question,omitempty"`
	// Choices are the answers that a question offers, for chats.
	Choices []string `json:"choices,omitempty"`
	// Actions are what the client may do: "approve" and "prompt".
	Actions []string `json:"actions,omitempty"`
	// Gone says that nothing waits any more: a notification with the tag is closed.
	Gone bool `json:"gone,omitempty"`
	// Quiet replaces a notification without a sound.
	Quiet bool `json:"quiet,omitempty"`

	// ID is that of the delivery, the same for each attempt; "" for a test.
	ID     string        `json:"-"`
	Urgent bool          `json:"-"`
	TTL    time.Duration `json:"-"` // how long a server keeps it for a device that is offline
}

// Result is how a delivery ended.
type Result struct {
	Err error // nil for a notification that the server accepted
	// Ended says that the address will never work again.
	Ended bool
	// Retry says that a later attempt may succeed, not before After.
	Retry bool
	After time.Duration
}

// Channel sends notifications of one kind. Its methods may be called from any goroutine.
type Channel interface {
	Kind() api.PushKind
	// Check returns why an address cannot be used, as an *api.Error.
	Check(Address) error
	// Server names the server of an address for people, without what is secret in it.
	Server(Address) string
	// Send sends one notification. ctx bounds it.
	Send(ctx context.Context, to Address, message Message) Result
}
