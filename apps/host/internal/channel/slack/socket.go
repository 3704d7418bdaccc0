package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Bounds of a connection.
const (
	dialTimeout  = 30 * time.Second
	writeTimeout = 10 * time.Second
	maxEnvelope  = 4 << 20
	// silence is how long a connection may bring nothing. Slack sends a ping every few seconds,
	// which only a read that is waiting sees; so after this time we ask whether it is alive.
	silence = 30 * time.Second
)

// envelope is what arrives over Socket Mode.
type envelope struct {
	Type    string          `json:"type"`
	ID      string          `json:"envelope_id"`
	Reason  string          `json:"reason"`
	Payload json.RawMessage `json:"payload"`
}

// socket is one connection of Socket Mode.
type socket struct{ conn *websocket.Conn }

// open asks for an address and connects to it.
func (p *Platform) open(ctx context.Context) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	_, address, err := p.app.StartSocketModeContext(ctx)
	if err != nil {
		return nil, p.explain("opening a connection", err)
	}
	if err := channel.CheckEndpoint(address); err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	conn, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: &http.Client{
		Transport:     p.options.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err != nil {
		return nil, fmt.Errorf("slack: connecting: %w", dialError(err))
	}
	conn.SetReadLimit(maxEnvelope)
	return &socket{conn}, nil
}

// dialError is an error without the address, which has a ticket that would let others connect.
func dialError(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

func (s *socket) close() { _ = s.conn.CloseNow() }

// next waits for an envelope. A connection that is silent for long is asked for a sign of life.
func (s *socket) next(ctx context.Context) (envelope, error) {
	type result struct {
		text []byte
		err  error
	}
	got := make(chan result, 1)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, text, err := s.conn.Read(reading)
		got <- result{text, err}
	}()
	timer := time.NewTicker(silence)
	defer timer.Stop()
	for {
		select {
		case r := <-got:
			var e envelope
			if r.err != nil {
				return e, fmt.Errorf("slack: reading: %w", r.err)
			}
			if err := json.Unmarshal(r.text, &e); err != nil {
				return e, errors.New("slack: Slack sent something that is no envelope")
			}
			return e, nil
		case <-timer.C:
			if err := s.ping(ctx); err != nil {
				stop()
				<-got
				return envelope{}, err
			}
		}
	}
}

func (s *socket) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("slack: the connection is dead: %w", err)
	}
	return nil
}

// ack acknowledges an envelope: Slack does not send it again.
func (s *socket) ack(ctx context.Context, id string) error {
	text, err := json.Marshal(map[string]string{"envelope_id": id})
	if err != nil {
		return fmt.Errorf("slack: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("slack: acknowledging: %w", err)
	}
	return nil
}
