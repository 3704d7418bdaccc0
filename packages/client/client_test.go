package client_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// pipe joins a client to a host that the test plays.
type pipe struct {
	toHost, toClient chan []byte
	closed           chan struct{}
}

func newPipe() *pipe {
	return &pipe{make(chan []byte, 16), make(chan []byte, 16), make(chan struct{})}
}

func (p *pipe) Send(_ context.Context, message []byte) error {
	select {
	case p.toHost <- message:
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

func (p *pipe) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-p.toClient:
		return message, nil
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipe) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func TestAnswersFindTheirRequests(t *testing.T) {
	p := newPipe()
	events := make(chan api.EventEnvelope, 1)
	c := client.New(p, func(e api.EventEnvelope) { events <- e })
	defer c.Close()
	first := make(chan string, 1)
	go func() {
		r, _ := client.Call(t.Context(), c, api.AddProject, api.AddProjectRequest{Path: "/a"})
		first <- r.Project.Path
	}()
	<-p.toHost
	second := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), c, api.StopHost, api.Empty{})
		second <- err
	}()
	<-p.toHost
	p.toClient <- []byte(`{"type":"event","event":{"type":"from_the_future","x":1}}`)
	p.toClient <- []byte(`{"type":"error","requestId":"2","kind":3,"message":"no"}`)
	p.toClient <- []byte(`{"type":"response","requestId":"77","result":{}}`) // not requested
	p.toClient <- []byte(`{"type":"response","requestId":"1","result":{"project":{"path":"/a"}}}`)
	if got := <-first; got != "/a" {
		t.Fatalf("the first request got %q", got)
	}
	var refused *api.Error
	if err := <-second; !errors.As(err, &refused) || refused.Kind != api.KindNotAllowed {
		t.Fatalf("the second request got %v", err)
	}
	if e := <-events; e.Event.EventType() != "from_the_future" {
		t.Fatalf("got event %+v", e)
	}
}

func TestALostConnectionEndsWhatWaits(t *testing.T) {
	p := newPipe()
	c := client.New(p, nil)
	waiting := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), c, api.StopHost, api.Empty{})
		waiting <- err
	}()
	<-p.toHost
	_ = p.Close()
	if err := <-waiting; !errors.Is(err, client.ErrLost) {
		t.Fatalf("got %v, want ErrLost", err)
	}
	if _, err := client.Call(t.Context(), c, api.StopHost, api.Empty{}); !errors.Is(err, client.ErrLost) {
		t.Fatalf("a later request got %v, want ErrLost", err)
	}
	<-c.Done()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	p := newPipe()
	c := client.New(p, nil)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := client.Call(ctx, c, api.StopHost, api.Empty{})
		waiting <- err
	}()
	<-p.toHost
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
