package service

import (
	"context"

	"golang.org/x/sys/windows/svc"
)

// Controlled runs a program as the service control manager expects it, if that has started it, and
// reports whether it did. run gets a context that ends when the service is to stop.
func Controlled(run func(ctx context.Context) int) (code int, ok bool) {
	if service, err := svc.IsWindowsService(); err != nil || !service {
		return 0, false
	}
	h := &handler{run: run}
	if err := svc.Run("scorel", h); err != nil {
		return 1, true
	}
	return h.code, true
}

type handler struct {
	run  func(ctx context.Context) int
	code int
}

// Execute implements svc.Handler.
func (h *handler) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.code = h.run(ctx)
	}()
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for {
		select {
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				status <- request.CurrentStatus
			case svc.Stop, svc.Shutdown:
				status <- svc.Status{State: svc.StopPending}
				cancel()
			}
		case <-done:
			return true, uint32(h.code)
		}
	}
}
