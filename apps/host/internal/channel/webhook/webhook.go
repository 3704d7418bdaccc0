// Package webhook connects scorel to a server of the user's own, for chat programs that scorel
// does not know. scorel dials out: it reads updates from an event stream (SSE) of the server
// and posts messages to it. docs/channels.md is the protocol for authors of servers.
//
// Both sides sign with one secret. A request has the headers Scorel-Timestamp, in Unix seconds,
// Scorel-Nonce and Scorel-Signature: "v1=" and the HMAC-SHA256, in hex, of the timestamp, the
// nonce, the method, the path with its query and the hash of the body, each on a line. An
// event has a member "signature" over its position and the text of its update.
package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

const (
	maxText  = 16 << 10 // bytes of a text
	maxEvent = 256 << 10
	maxReply = 64 << 10
	silence  = 90 * time.Second // without any byte, the stream is dead
)

// Options configure a webhook.
type Options struct {
	URL    string // of the server, such as https://example.com/scorel
	Secret string
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Platform is a server of the user's own.
type Platform struct {
	base   *url.URL
	secret []byte
	http   *http.Client
}

var _ channel.Platform = (*Platform)(nil)

// New makes a platform without a request.
func New(o Options) (*Platform, error) {
	if err := channel.CheckEndpoint(o.URL); err != nil {
		return nil, err
	}
	if len(o.Secret) < 16 {
		return nil, fmt.Errorf("%w: the secret has fewer than 16 characters", channel.ErrUnauthorized)
	}
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
		return nil, err
	}
	if base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("%s has a query: give an address without one", o.URL)
	}
	client := &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Platform{base: base, secret: []byte(o.Secret), http: client}, nil
}

// Limits implements channel.Platform.
func (p *Platform) Limits() channel.Limits {
	return channel.Limits{
		Text: maxText, Units: func(s channel.Segment) int { return len(s.Text) }, Every: 100 * time.Millisecond, EditEvery: time.Second,
		File: channel.MaxFile, Edits: true, Buttons: true, Idempotent: true,
	}
}

// Sign returns the signature of a request.
func Sign(secret []byte, timestamp, nonce, method, path string, body []byte) string {
	hash := sha256.Sum256(body)
	return "v1=" + mac(secret, timestamp, nonce, method, path, hex.EncodeToString(hash[:]))
}

// SignEvent returns the signature of an update at a position.
func SignEvent(secret []byte, position string, update []byte) string {
	hash := sha256.Sum256(update)
	return "v1=" + mac(secret, "event", position, hex.EncodeToString(hash[:]))
}

func mac(secret []byte, lines ...string) string {
	h := hmac.New(sha256.New, secret)
	_, _ = io.WriteString(h, strings.Join(lines, "\n"))
	return hex.EncodeToString(h.Sum(nil))
}

// do sends a signed request. The caller closes the body of the response.
func (p *Platform) do(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	u := *p.base
	u.Path += path
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	timestamp, nonce := strconv.FormatInt(time.Now().Unix(), 10), rand.Text()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Scorel-Timestamp", timestamp)
	request.Header.Set("Scorel-Nonce", nonce)
	request.Header.Set("Scorel-Signature", Sign(p.secret, timestamp, nonce, method, u.RequestURI(), body))
	response, err := p.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, explain(response)
}

func explain(response *http.Response) error {
	switch response.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("webhook: %w", channel.ErrUnauthorized)
	case http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &channel.RateLimited{After: time.Duration(min(max(seconds, 1), 3600)) * time.Second}
	case http.StatusGone:
		return fmt.Errorf("webhook: %w", channel.ErrChatGone)
	case http.StatusNotFound:
		return fmt.Errorf("webhook: %w", channel.ErrMessageGone)
	case http.StatusConflict:
		return fmt.Errorf("webhook: %w", channel.ErrConflict)
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("webhook: HTTP %d: %w", response.StatusCode, channel.ErrRejected)
	}
	return fmt.Errorf("webhook: HTTP %d", response.StatusCode)
}

// post sends an object and reads the answer.
func (p *Platform) post(ctx context.Context, path string, object, answer any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	response, err := p.do(ctx, http.MethodPost, path, nil, body)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(response.Body, maxReply)).Decode(answer); err != nil {
		return fmt.Errorf("webhook: reading an answer: %w", err)
	}
	return nil
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (who channel.Identity, err error) {
	if err = p.post(ctx, "/check", struct{}{}, &who); err != nil {
		return channel.Identity{}, err
	}
	if who.ID == "" || who.Name == "" {
		return channel.Identity{}, errors.New("webhook: the server does not say who it is")
	}
	return who, nil
}

// event is the data of an event of the stream.
type event struct {
	Update    json.RawMessage `json:"update"`
	Signature string          `json:"signature"`
}

// Run implements channel.Platform. The cursor is the position of the last event that was taken:
// its id in the stream.
func (p *Platform) Run(ctx context.Context, cursor []byte, in channel.Inbound) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	query := url.Values{}
	if len(cursor) > 0 {
		query.Set("after", string(cursor))
	}
	dead := time.AfterFunc(silence, func() { cancel(errors.New("webhook: the server was silent for too long")) })
	defer dead.Stop()
	response, err := p.do(ctx, http.MethodGet, "/events", query, nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	in.Connected()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 4096), maxEvent)
	var id, data string
	for lines.Scan() {
		dead.Reset(silence)
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "id: "):
			id = line[len("id: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && data != "":
			if err := p.take(ctx, id, data, in); err != nil {
				return err
			}
			id, data = "", ""
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return fmt.Errorf("webhook: the stream ended: %w", errors.Join(lines.Err(), io.EOF))
}

// take checks an event and passes it on. One that is not signed ends the connection: it is not
// from the server.
func (p *Platform) take(ctx context.Context, id, data string, in channel.Inbound) error {
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("webhook: reading an event: %w", err)
	}
	if id == "" || !hmac.Equal([]byte(e.Signature), []byte(SignEvent(p.secret, id, e.Update))) {
		return errors.New("webhook: an event has a wrong signature")
	}
	var u channel.Update
	if err := json.Unmarshal(e.Update, &u); err != nil {
		return fmt.Errorf("webhook: reading an update: %w", err)
	}
	u.Cursor = []byte(id)
	return in.Take(ctx, u)
}

// Send implements channel.Platform.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	out := wire.Render(chatID, m)
	if m.File != nil {
		r, err := m.File.Open()
		if err != nil {
			return "", fmt.Errorf("webhook: opening a file: %w", err)
		}
		defer func() { _ = r.Close() }()
		data, err := io.ReadAll(io.LimitReader(r, channel.MaxFile+1))
		if err != nil {
			return "", fmt.Errorf("webhook: reading a file: %w", err)
		}
		out.File = &wire.File{Name: m.File.Name, MIME: m.File.MIME, Data: base64.StdEncoding.EncodeToString(data)}
	}
	var answer struct {
		ID string `json:"id"`
	}
	if err := p.post(ctx, "/send", out, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" || len(answer.ID) > channel.MaxID {
		return "", errors.New("webhook: the server gave the message no id")
	}
	return answer.ID, nil
}

// Edit implements channel.Platform.
func (p *Platform) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	out := wire.Render(chatID, m)
	out.ID = messageID
	return p.post(ctx, "/edit", out, &struct{}{})
}

// Fetch implements channel.Platform.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	response, err := p.do(ctx, http.MethodGet, "/file", url.Values{"ref": {f.Ref}}, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Answer implements channel.Platform.
func (p *Platform) Answer(ctx context.Context, press channel.Press, notice string) error {
	return p.post(ctx, "/answer", map[string]string{"ref": press.Ref, "chat": press.Chat.ID, "notice": notice}, &struct{}{})
}
