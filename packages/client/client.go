// Package client implements a client of a host: over a relay, sealed end to end, or
// directly on the host's own machine. Above the Transport both are the same.
//
// It also runs the pairing ceremony over a relay connection, for hosts and entries.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Transport carries whole messages between an entry and a host. Send and Receive
// may be called concurrently, each from one goroutine at a time.
type Transport interface {
	Send(ctx context.Context, message []byte) error
	// Receive returns the next message, which is valid until the next call.
	Receive(ctx context.Context) ([]byte, error)
	// Close ends both directions and releases the transport's resources.
	Close() error
}

// ErrLost is returned if the connection to the host ended. The request may or may
// not have been executed; one with a clientKey may be sent again.
var ErrLost = errors.New("the connection to the host was lost")

// Ends of a transport that can use several paths. Another connection should follow at once.
var (
	// ErrMoved is returned if a better path is ready and nothing was under way.
	ErrMoved = errors.New("the connection moves to a better path")
	// ErrPathLost is returned if the path was lost and others are known.
	ErrPathLost = errors.New("its path failed")
)

// Meter is implemented by transports that must know whether something is under way.
type Meter interface {
	// Waiting is called before a request is sent and when one is answered or given up, with
	// the number of requests that wait. It must not call the client.
	Waiting(requests int)
}

// Client sends requests and receives events. Its methods may be called from any
// goroutine.
type Client struct {
	// Static after New.
	transport Transport
	meter     Meter // nil if the transport is none
	onEvent   func(api.EventEnvelope)
	cancel    context.CancelFunc
	done      chan struct{} // closed when the reader has ended

	sendMu sync.Mutex

	mu      sync.Mutex
	pending map[string]chan api.Incoming
	last    int
	waiting int   // requests that were sent and not forgotten
	err     error // why the reader ended
}

// New starts a client on a transport and takes ownership of it. onEvent is called
// from one goroutine, in order, and must not call the client.
func New(transport Transport, onEvent func(api.EventEnvelope)) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{
		transport: transport,
		onEvent:   onEvent,
		cancel:    cancel,
		done:      make(chan struct{}),
		pending:   make(map[string]chan api.Incoming),
	}
	c.meter, _ = transport.(Meter)
	go c.readLoop(ctx)
	return c
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended; nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and waits for the reader.
func (c *Client) Close() error {
	c.cancel()
	err := c.transport.Close()
	<-c.done
	return err
}

// Call sends a request and waits for its answer. A refusal is an *api.Error; a lost
// connection wraps ErrLost.
func Call[Request, Response any](ctx context.Context, c *Client, to api.Definition[Request, Response], request Request) (Response, error) {
	var response Response
	result, err := c.Raw(ctx, to.Name(), request)
	if err != nil {
		return response, err
	}
	if err := exactjson.Unmarshal(result, &response); err != nil {
		return response, fmt.Errorf("reading the answer to %s: %w", to.Name(), err)
	}
	return response, nil
}

// Raw is Call for a request known only by its name, such as one of a newer version.
// The request must encode to a JSON object.
func (c *Client) Raw(ctx context.Context, name string, request any) (json.RawMessage, error) {
	id, answer, err := c.register()
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	message, err := api.EncodeRequest(name, id, request)
	if err != nil {
		return nil, err
	}
	if err := c.send(ctx, message); err != nil {
		return nil, fmt.Errorf("sending %s: %w: %w", name, ErrLost, err)
	}
	select {
	case in := <-answer:
		if in.Type == api.TypeError {
			return nil, &api.Error{Kind: in.Kind, Message: in.Message, DeviceID: in.DeviceID, MovingTo: in.MovingTo}
		}
		return in.Result, nil
	case <-c.done:
		return nil, fmt.Errorf("waiting for %s: %w", name, c.Err())
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for %s: %w", name, context.Cause(ctx))
	}
}

func (c *Client) send(ctx context.Context, message []byte) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	return c.transport.Send(ctx, message)
}

func (c *Client) register() (string, chan api.Incoming, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", nil, c.err
	}
	c.last++
	c.wait(+1)
	id := strconv.Itoa(c.last)
	answer := make(chan api.Incoming, 1)
	c.pending[id] = answer
	return id, answer, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
	c.wait(-1)
}

// wait counts the requests that wait. c.mu must be held.
func (c *Client) wait(change int) {
	c.waiting += change
	if c.meter != nil {
		c.meter.Waiting(c.waiting)
	}
}

func (c *Client) readLoop(ctx context.Context) {
	err := c.read(ctx)
	c.mu.Lock()
	c.err = fmt.Errorf("%w: %w", ErrLost, err)
	c.mu.Unlock()
	close(c.done)
}

func (c *Client) read(ctx context.Context) error {
	for {
		message, err := c.transport.Receive(ctx)
		if err != nil {
			return err
		}
		in, err := api.DecodeIncoming(message)
		if err != nil {
			return err
		}
		switch in.Type {
		case api.TypeEvent:
			if in.Event != nil && c.onEvent != nil {
				c.onEvent(*in.Event)
			}
		case api.TypeResponse, api.TypeError:
			c.deliver(in)
		}
	}
}

func (c *Client) deliver(in api.Incoming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.pending[in.RequestID]; ok {
		delete(c.pending, in.RequestID)
		answer <- in // holds one; each id is delivered once
	}
}
