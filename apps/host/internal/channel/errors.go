package channel

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Errors of a Platform. Every other error is one of a network or server that may go away.
var (
	// ErrUnauthorized means that the token does not work. The channel stops until it is
	// changed.
	ErrUnauthorized = errors.New("the platform rejects the token")
	// ErrChatGone means that the bot cannot write to a chat any more.
	ErrChatGone = errors.New("the chat is gone, or the bot was removed from it")
	// ErrMessageGone means that a message that should be edited was deleted or is too old.
	ErrMessageGone = errors.New("the message is gone or too old to be edited")
	// ErrRejected means that the platform will never accept a message.
	ErrRejected = errors.New("the platform rejects the message")
	// ErrConflict means that another program receives the bot's messages. The channel tries
	// again later.
	ErrConflict = errors.New("another program receives the messages of this bot: stop it, or use a bot of its own")
)

// RateLimited means that the platform wants no more requests for a while.
type RateLimited struct{ After time.Duration }

func (e *RateLimited) Error() string {
	return fmt.Sprintf("the platform accepts no more for %s", e.After)
}

// Redact removes a secret from an error, which may contain a URL with it.
func Redact(err error, secret string) error {
	if err == nil || secret == "" || !strings.Contains(err.Error(), secret) && !strings.Contains(err.Error(), url.QueryEscape(secret)) {
		return err
	}
	return &redacted{err, secret}
}

type redacted struct {
	err    error
	secret string
}

func (r *redacted) Error() string {
	text := strings.ReplaceAll(r.err.Error(), r.secret, "***")
	return strings.ReplaceAll(text, url.QueryEscape(r.secret), "***")
}

// Unwrap keeps errors.Is and errors.As working for what the package defines, and hides the rest.
func (r *redacted) Is(target error) bool { return errors.Is(r.err, target) }

// As implements errors.As.
func (r *redacted) As(target any) bool {
	limited, ok := target.(**RateLimited)
	return ok && errors.As(r.err, limited)
}
