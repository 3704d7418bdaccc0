// Package restapi makes the HTTP requests of chat platforms: JSON in and out, bounded, no
// redirects, no second attempts, and no waiting for rate limits.
package restapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 8 << 20

// uploadTimeout bounds a request with its body and answer.
const uploadTimeout = 5 * time.Minute

// Client makes requests to one API.
type Client struct {
	// Name begins each error, such as "discord".
	Name string
	// Base is the address of the API, without a slash at its end.
	Base string
	// Authorize adds the token to a request.
	Authorize func(context.Context, *http.Request) error
	// Explain translates an answer that is no success to one of the errors of package
	// channel. It returns nil for the usual meaning of the status.
	Explain func(status int, body []byte) error
	HTTP    *http.Client
}

// HTTPClient returns a client that follows no redirects, because they could lead a token to
// another server. A nil transport is the usual one.
func HTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		Timeout:       uploadTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Call sends in as JSON, or nothing if it is nil, and reads the answer to out if that is not
// nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		body = bytes.NewReader(text)
	}
	return c.Send(ctx, method, path, "application/json", body, out)
}

// Send is like Call with a body of any type.
func (c *Client) Send(ctx context.Context, method, path, contentType string, body io.Reader, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("User-Agent", "scorel (https://github.com/scorel/scorel)")
	if err := c.Authorize(ctx, request); err != nil {
		return err
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: reading an answer: %w", c.Name, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %w", c.Name, c.explain(response, answer))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s: reading an answer: %w", c.Name, err)
	}
	return nil
}

func (c *Client) explain(response *http.Response, body []byte) error {
	said := fmt.Sprintf("HTTP %d: %s", response.StatusCode, channel.Cut(channel.CleanName(string(body)), 200))
	if response.StatusCode == http.StatusTooManyRequests {
		return &channel.RateLimited{After: retryAfter(response.Header, body)}
	}
	if err := c.Explain(response.StatusCode, body); err != nil {
		return fmt.Errorf("%w (%s)", err, said)
	}
	switch response.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w (%s)", channel.ErrUnauthorized, said)
	case http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%w (%s)", channel.ErrChatGone, said)
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w (%s)", channel.ErrRejected, said)
	}
	return fmt.Errorf("%s", said)
}

// retryAfter reads how long to wait, of the body or the header, both in seconds.
func retryAfter(header http.Header, body []byte) time.Duration {
	var said struct {
		After float64 `json:"retry_after"`
	}
	_ = json.Unmarshal(body, &said) // a proxy's answer is no JSON
	if said.After <= 0 {
		said.After, _ = strconv.ParseFloat(header.Get("Retry-After"), 64)
	}
	if !(said.After >= 0 && said.After <= 24*60*60) {
		said.After = 24 * 60 * 60
	}
	return max(time.Second, time.Duration(math.Ceil(said.After*1000))*time.Millisecond)
}

// Get opens what is at a whole address, without the token.
func (c *Client) Get(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: reading a file: %w", c.Name, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: reading a file: HTTP %d", c.Name, response.StatusCode)
	}
	return response.Body, nil
}
