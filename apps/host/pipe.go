package host

import (
	"context"
	"io"
	"sync"

	"github.com/scorel/scorel/packages/client"
)

// newPipe makes two transports in this process: what one sends the other receives.
func newPipe() (near, far client.Transport) {
	there, back := make(chan []byte), make(chan []byte)
	closed := make(chan struct{})
	end := sync.OnceFunc(func() { close(closed) })
	return &pipeEnd{there, back, closed, end}, &pipeEnd{back, there, closed, end}
}

type pipeEnd struct {
	out, in chan []byte
	closed  chan struct{} // both ends share it
	end     func()
}

func (p *pipeEnd) Send(ctx context.Context, message []byte) error {
	select {
	case p.out <- message:
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pipeEnd) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-p.in:
		return message, nil
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipeEnd) Close() error {
	p.end()
	return nil
}
