package model

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Reason classifies a failure, for programs.
type Reason string

const (
	ReasonOther       Reason = "failed"
	ReasonKeyMissing  Reason = "key_missing"   // the variable that should contain it is empty
	ReasonKeyRefused  Reason = "key_refused"   // HTTP 401 or 403
	ReasonUnknown     Reason = "unknown_model" // HTTP 404
	ReasonUnreachable Reason = "unreachable"   // an error below HTTP
	ReasonBusy        Reason = "busy"          // HTTP 429 or a server error
)

func reasonOf(status int) Reason {
	switch {
	case status == 401 || status == 403:
		return ReasonKeyRefused
	case status == 404:
		return ReasonUnknown
	case status == 429 || status >= 500:
		return ReasonBusy
	}
	return ReasonOther
}

// ProbeError is why Probe failed, as one sentence for people.
type ProbeError struct {
	Reason Reason
	Text   string
}

func (e *ProbeError) Error() string { return e.Text }

// probeTokens bounds the answer. A model that thinks first may use it up.
const probeTokens = 512

// Probe makes one small real call, without retries. Any answer is a success, even one that
// is cut by its length. The error is a *ProbeError.
func Probe(ctx context.Context, config Config) (session.Message, error) {
	if config.KeyEnv != "" && config.Key == "" && !config.Saved { // a saved provider may need none
		return session.Message{}, &ProbeError{ReasonKeyMissing, fmt.Sprintf(
			"The key is missing: $%s is not set. Set it, here and where the host runs.", config.KeyEnv)}
	}
	config.last = &failure{reason: ReasonOther}
	if config.MaxTokens == 0 || config.MaxTokens > probeTokens {
		config.MaxTokens = probeTokens
	}
	config.Thinking = ""
	made, err := New(config)
	if err != nil {
		return session.Message{}, &ProbeError{ReasonOther, err.Error()}
	}
	if once, ok := made.(interface{ tryOnce() }); ok {
		once.tryOnce()
	}
	message := made.Stream(ctx, agent.Request{Messages: []session.Message{
		{Role: session.RoleUser, Content: session.Content{session.Text("Reply with the word ok and nothing else.")}},
	}}, func(agent.Delta) {})
	switch message.StopReason {
	case session.StopError:
		reason := config.last.reason
		if reason == "" {
			reason = ReasonOther
		}
		return message, &ProbeError{reason, message.ErrorMessage}
	case session.StopAborted:
		return message, &ProbeError{ReasonUnreachable, fmt.Sprintf("%s did not respond in time: check the network.", config.subject())}
	}
	return message, nil
}

// tryOnce disables retries.
func (c *caller) tryOnce() { c.retry.tries = 0 }
