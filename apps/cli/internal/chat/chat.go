// Package chat is the terminal client: a full-screen chat with an agent on this machine or on a
// paired one. It is a client like any other: it knows the protocol and packages/client, and
// nothing of the host's inside.
//
// feed keeps the connection, projection the state of the session, transcript and markdown make
// lines of it, and composer is the field to write in. This package puts them on the screen and
// gives keys their meaning. Each part of the screen is a type with its own state, keys and lines,
// and gets what it needs: connection, shown, field, outbox, cards, picker, completion, attention.
// None of them knows Model, which passes keys and messages on and connects what they report.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Signer signs the answer to an approval with the key of this machine's client.
type Signer func(sessionID string, approval api.Approval, decision api.Decision, feedback string) (*session.AnswerSignature, error)

// Host is a host that the chat can reach.
type Host struct {
	Name string // for people; "" means this machine
	Dial func(ctx context.Context) (client.Transport, error)
	// Follow has Dial lead to the device that a session was moved to, and returns the name of
	// the device; nil follows no session.
	Follow func(device string) (name string, err error)
	Lost   func(err error) bool          // whether reconnecting may help after an error
	After  func(err error) time.Duration // how long the other side asked to wait; may be nil
	// Wait waits before another attempt, at most as long as given; may be nil.
	Wait   func(ctx context.Context, most time.Duration) error
	Sign   Signer        // nil sends answers without a signature
	Path   func() string // names the path in use, for people; may be nil
	Guest  bool          // shows one session and answers nothing else
	Device func() string // names the device, for Others; nil is "", this machine
}

func (h Host) device() string {
	if h.Device == nil {
		return ""
	}
	return h.Device()
}

// Config says what to open. Host, Input, Output and Environ are required.
type Config struct {
	Host    Host
	Folder  string // on the host: project of new sessions; "" begins with the list of sessions
	Session string // opened at the start; "" begins a new one
	Watch   bool   // read only
	// NoNotify turns off notifications through the terminal.
	NoNotify bool

	Input   io.Reader
	Output  io.Writer
	Environ []string // TERM, COLORTERM and NO_COLOR decide about colors
	// Others lists the hosts that a search covers besides the open one, which Host.Device names.
	Others func(open string) []Host
	// Explain makes an error one sentence for people; nil uses its text.
	Explain func(err error) string
	// Help returns the address of what to do about an error, "" if there is none; nil has none.
	Help func(err error) string
	// Now is time.Now except in tests.
	Now func() time.Time
}

// Result is what is left after the chat.
type Result struct {
	Session string // that was open last, or ""
	Device  string // that has it; "" is this machine
}

// framesPerSecond bounds how often the screen is written. Keys appear within one frame.
const framesPerSecond = 120

// Run shows the chat until the person leaves it or ctx ends.
func Run(ctx context.Context, cfg Config) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, cfg)
	defer m.conn.feeds.Wait()
	defer cancel()
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(cfg.Input), tea.WithOutput(cfg.Output),
		tea.WithEnvironment(cfg.Environ), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())
	_, err := program.Run()
	result := Result{Session: m.session.Summary.ID, Device: m.conn.to.device()}
	if err != nil && ctx.Err() == nil && !errors.Is(err, tea.ErrInterrupted) {
		return result, fmt.Errorf("running the terminal: %w", err)
	}
	return result, m.fatal
}
