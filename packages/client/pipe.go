package client

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// end is one end of a pipe. It implements client.Transport.
type end struct {
	in     <-chan []byte
	out    chan<- []byte
	closed chan struct{}
	close  func()
}

// Pipe returns two transports in one process that are connected. Closing one closes both.
func Pipe() (near, far Transport) {
	there, back, closed := make(chan []byte), make(chan []byte), make(chan struct{})
	closeBoth := sync.OnceFunc(func() { close(closed) })
	return end{back, there, closed, closeBoth}, end{there, back, closed, closeBoth}
}

func (e end) Send(ctx context.Context, message []byte) error {
	select {
	case e.out <- bytes.Clone(message):
		return nil
	case <-e.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e end) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-e.in:
		return message, nil
	case <-e.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e end) Close() error {
	e.close()
	return nil
}
