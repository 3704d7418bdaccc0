package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serveNATS runs a NATS server without JetStream. It listens itself, on the address
// that was drawn.
func serveNATS(ctx context.Context, l net.Listener, _ Options, ready func(string)) error {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("NATS needs a TCP address, not %s", l.Addr())
	}
	if err := l.Close(); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		Host: at.IP.String(), Port: at.Port, NoLog: true, NoSigs: true, MaxConn: 100_000,
	})
	if err != nil {
		return fmt.Errorf("making a NATS server: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("the NATS server does not get ready")
	}
	ready("")
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
