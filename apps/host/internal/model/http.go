package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// maxErrorBody bounds how much of an error response is read, in bytes.
const maxErrorBody = 64 << 10

// bearer returns the key in the header of OpenAI and compatible servers.
func (c Config) bearer() http.Header {
	header := http.Header{}
	if c.Key != "" {
		header.Set("Authorization", "Bearer "+string(c.Key))
	}
	return header
}

// maxRedirects bounds the redirects of one request.
const maxRedirects = 10

// checkRedirect keeps prompts and the key at the server that they were meant for: net/http drops
// only some headers of a request that goes elsewhere, and repeats its body.
func (c Config) checkRedirect(next *http.Request, before []*http.Request) error {
	from, to := before[0].URL, next.URL
	same := to.Scheme == from.Scheme && to.Host == from.Host
	upgraded := from.Scheme == "http" && to.Scheme == "https" && to.Hostname() == from.Hostname()
	if c.Saved || len(before) >= maxRedirects || !same && !upgraded {
		return http.ErrUseLastResponse
	}
	return nil
}

// post sends a JSON body and returns a response with status 200, whose body the caller must
// close.
func (c caller) post(ctx context.Context, url string, header http.Header, body []byte) (*http.Response, *failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{text: fmt.Sprintf("The address %q is not a URL: check %s.", c.config.BaseURL, c.config.addressSetting())}
	}
	request.Header = header
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "text/event-stream")
	header.Set("User-Agent", "scorel")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.config.explainError(err)
	}
	touch(ctx)
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // whatever was received is used
	after := retryAfter(response.Header, time.Now())
	if after == 0 {
		after = retryDelay(text)
	}
	return nil, c.config.refused(response.StatusCode, text, after)
}

// events reads the response's event stream. A web page is an error.
func (c caller) events(ctx context.Context, response *http.Response, onData func([]byte) error) *failure {
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err == nil && kind == "text/html" {
		return &c.config.notProvider().failure
	}
	if err := readSSE(response.Body, func() { touch(ctx) }, onData); err != nil {
		return c.config.broken(err)
	}
	return nil
}

// streamError is an error that the server sent in the stream.
type streamError struct{ failure }

func (e *streamError) Error() string { return e.text }

func (c Config) notProvider() *streamError {
	return &streamError{failure{text: fmt.Sprintf("%s is a web page, not an %s server: check %s.", c.subject(), c.protocol(), c.addressSetting())}}
}

func (c Config) notProtocol(data []byte) *streamError {
	return &streamError{failure{text: fmt.Sprintf("%s sent data that is not JSON of this protocol: check that base_url is an %s server.%s",
		c.subject(), c.protocol(), c.quote(string(data)))}}
}

// protocol names the expected protocol, for people.
func (c Config) protocol() string {
	switch c.Type {
	case TypeResponses:
		return "OpenAI responses"
	case TypeGoogle:
		return "API of Gemini"
	case TypeAnthropic:
		return "Anthropic messages"
	}
	return "OpenAI-compatible"
}

// reported converts an error that a server sent without an HTTP status. code is any further
// information about it.
func (c Config) reported(said, code string) *failure {
	if overflows(0, said) || overflows(0, code) {
		return &failure{text: c.tooLong(said), overflow: true}
	}
	return &failure{text: fmt.Sprintf("%s reported an error.%s", c.subject(), c.quote(said)), retry: true}
}

// brokeOff is the failure of a stream that ended before its message did.
func (c Config) brokeOff() *failure {
	return &failure{retry: true, text: fmt.Sprintf("The answer of %s was cut off in the middle.", c.subject())}
}

// broken converts a read error to a failure.
func (c Config) broken(err error) *failure {
	var sent *streamError
	switch {
	case errors.As(err, &sent):
		return &sent.failure
	case errors.Is(err, errStreamTooLarge):
		return &failure{text: fmt.Sprintf("%s sent an answer larger than the limit of 64 MiB.", c.subject())}
	}
	return c.explainError(err)
}
