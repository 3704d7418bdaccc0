package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxQuote bounds a quotation from a server's response, in bytes.
const maxQuote = 300

// subject names the model for people.
func (c Config) subject() string {
	return fmt.Sprintf("Model %q at %s", c.Model, c.shownAddress())
}

// shownAddress is the address for people. The path of a saved one may hold a secret that only
// clients with manage and approve may see.
func (c Config) shownAddress() string {
	if u, err := url.Parse(c.BaseURL); c.Saved && err == nil {
		return u.Scheme + "://" + u.Host
	}
	return c.BaseURL
}

// explainStatus explains an HTTP status and what to do about it. body is the server's
// response.
func (c Config) explainStatus(status int, body []byte) string {
	said := c.quote(errorText(body))
	switch {
	case status == 401 || status == 403:
		return fmt.Sprintf("%s rejected the key (HTTP %d): %s%s", c.subject(), status, c.keyAdvice(), said)
	case status == 404:
		return fmt.Sprintf("%s was not found (HTTP 404): check the model's id and %s.%s", c.subject(), c.addressSetting(), said)
	case status == 429:
		return fmt.Sprintf("%s is rate-limited (HTTP 429): wait a moment, or check the limits of your plan.%s", c.subject(), said)
	case status >= 500:
		return fmt.Sprintf("%s is failing or overloaded (HTTP %d): try again later.%s", c.subject(), status, said)
	}
	if status >= 300 && status < 400 {
		return fmt.Sprintf("%s redirects to another address (HTTP %d), which is not followed: set %s to the one that it leads to.%s", c.subject(), status, c.addressSetting(), said)
	}
	where := "in config.toml"
	switch {
	case c.Saved:
		where = "and its provider's"
	case c.SavedModel:
		where = "and those of its provider"
	}
	return fmt.Sprintf("%s rejected the request (HTTP %d): check the model's settings %s.%s", c.subject(), status, where, said)
}

// addressSetting names the setting of the address, for people.
func (c Config) addressSetting() string {
	if c.Saved {
		return fmt.Sprintf("the address of the provider %s", c.Provider)
	}
	return "the base_url in config.toml"
}

func (c Config) keyAdvice() string {
	switch {
	case c.Saved && c.Key == "":
		return fmt.Sprintf("save a key of the provider %[1]s, in the settings of the machine or with `scorel model key set %[1]s`.", c.Provider)
	case c.Saved:
		return fmt.Sprintf("save a valid key of the provider %[1]s, in the settings of the machine or with `scorel model key set %[1]s`.", c.Provider)
	case c.KeyEnv == "":
		return "name the environment variable that holds one as api_key_env in config.toml."
	case c.Key == "":
		return fmt.Sprintf("$%s is not set where the host runs: save a key in the settings of the machine on the page, or set it and restart the host.", c.KeyEnv)
	}
	return fmt.Sprintf("check that $%s holds a valid one where the host runs.", c.KeyEnv)
}

// refused converts an HTTP status and the server's response to a failure. after is how long
// the server asked to wait.
func (c Config) refused(status int, body []byte, after time.Duration) *failure {
	said := errorText(body)
	switch {
	case overflows(status, said) || overflows(status, string(body)):
		return &failure{text: c.tooLong(said), overflow: true}
	case status == 400 && strings.Contains(string(body), "API_KEY_INVALID"): // Google's equivalent of 401
		status = 401
	}
	fail := &failure{text: c.explainStatus(status, body), retry: transient(status), after: after, reason: reasonOf(status)}
	// An exhausted quota does not recover within a minute.
	if strings.Contains(string(body), "insufficient_quota") {
		fail.retry = false
	}
	return fail
}

// tooLong explains that the prompt does not fit. said is the server's message.
func (c Config) tooLong(said string) string {
	return fmt.Sprintf("The session is too long for model %q at %s: start a new session.%s", c.Model, c.shownAddress(), c.quote(said))
}

// overflowWords are phrases with which servers say that a prompt is too long for the model.
var overflowWords = []string{
	"prompt is too long", "input is too long", "context_length_exceeded", "maximum context length", "exceeds the context window",
	"maximum prompt length", "exceeds the maximum number of tokens", "exceeds the available context size",
	"reduce the length of the messages", "greater than the context length", "context window exceeds", "exceeded model token limit",
	"exceeds the limit of", "exceed context limit", "context size has been exceeded", "request_too_large", "model_context_window_exceeded",
}

// overflows reports whether a refusal is about the length of the prompt, as opposed to a
// limit of tokens per minute.
func overflows(status int, text string) bool {
	if status == 413 {
		return true
	}
	if status != 400 && status != 422 && status != 500 && status != 0 {
		return false
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(overflowWords, func(word string) bool { return strings.Contains(text, word) })
}

// transient reports whether an error with this status may be temporary.
func transient(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500
}

// explainError explains an error below HTTP.
func (c Config) explainError(err error) *failure {
	fail := c.explainNetwork(err)
	fail.reason = ReasonUnreachable
	return fail
}

func (c Config) explainNetwork(err error) *failure {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, publicnet.ErrPrivate):
		return &failure{text: fmt.Sprintf("%s has an address of a local network: only a provider that was saved on the machine itself connects to one. Save it there: `scorel model provider edit NAME`.", c.subject())}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{text: fmt.Sprintf("%s does not respond: is the server running?", c.subject())}
	case errors.As(err, &dns):
		return &failure{retry: dns.IsTemporary, text: fmt.Sprintf("%s cannot be resolved: check %s and the network.", c.subject(), c.addressSetting())}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &failure{retry: true, text: fmt.Sprintf("%s did not respond in time: check the network.", c.subject())}
	case errors.Is(err, context.Canceled):
		return &failure{text: fmt.Sprintf("The call to %s was canceled.", c.Model)}
	}
	return &failure{retry: true, text: fmt.Sprintf("The connection to %s broke: check the network.%s", c.subject(), c.quote(err.Error()))}
}

// quote appends the server's message, on one line, truncated and without the key.
func (c Config) quote(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if c.Key != "" {
		text = strings.ReplaceAll(text, string(c.Key), "[key]")
	}
	if text == "" {
		return ""
	}
	if len(text) > maxQuote {
		text = visible.Head(text, maxQuote) + "..."
	}
	return fmt.Sprintf(" The server said: %q", text)
}

// errorText returns the message in an error body, in one of the forms that servers use, or
// else the body itself.
func errorText(body []byte) string {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return string(body)
	}
	for _, raw := range []json.RawMessage{outer.Error, outer.Detail} {
		var inner struct {
			Message string `json:"message"`
		}
		var text string
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	if outer.Message != "" {
		return outer.Message
	}
	return string(body)
}
