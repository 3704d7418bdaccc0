package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/packages/mdns"
)

// besideMemory limits the buffers of a relay that serves one host.
const besideMemory = "256MiB"

// beside is the relay that runs in this process for its host alone: what `host serve
// --listen` opens. It keeps the bindings in the home, and admits no other device.
type beside struct {
	gate    *gate
	reached reached // by other machines
	mounted mounted // served at the host's own address too, if page is set
	page    bool
	ready   chan struct{} // closed once it serves
}

func newBeside(publicURLs []string) *beside {
	return &beside{reached: reached{fixed: publicURLs, reload: make(chan os.Signal)}, ready: make(chan struct{})}
}

// mounted is a handler that is set while the relay runs.
type mounted struct{ handler atomic.Pointer[http.Handler] }

func (m *mounted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := m.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, "the host is starting or stopping: try again in a moment", http.StatusServiceUnavailable)
}

func (m *mounted) set(handler http.Handler) {
	if handler == nil {
		m.handler.Store(nil)
		return
	}
	m.handler.Store(&handler)
}

// openBeside opens the listeners that --listen names. It returns the loopback address, if
// there is one, which the host itself listens on; and nil without --listen.
func openBeside(addresses, publicURLs []string) (b *beside, loopback string, err error) {
	if len(addresses) == 0 {
		if len(publicURLs) > 0 {
			return nil, "", usagef("--public-url names a listener: give its address with --listen")
		}
		return nil, "", nil
	}
	b = newBeside(publicURLs)
	var listeners []net.Listener
	for i, address := range addresses {
		local, err := reachesLocally(address)
		switch {
		case err == nil && !local && slices.Contains(addresses[:i], address):
			err = usagef("--listen %s is given twice: give it once", address)
		case err == nil && local && b.page:
			err = usagef("--listen names two addresses of this machine alone, %s and %s: give one of them", loopback, address)
		case err == nil && local:
			b.page, loopback = true, address
		case err == nil:
			var l net.Listener
			if l, err = b.listen(address); err == nil {
				listeners = append(listeners, l)
			}
		}
		if err != nil {
			return nil, "", errors.Join(err, openGate(listeners).Close())
		}
	}
	b.gate = openGate(listeners)
	return b, loopback, nil
}

// reachesLocally reports whether only this machine reaches an address. It refuses addresses
// that are not of a local network: the page would come over the internet without TLS.
func reachesLocally(address string) (bool, error) {
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return false, usagef("--listen %q is not an address: give host:port, as in 127.0.0.1:7430 or 192.168.1.5:7430", address)
	}
	ip, _ := netip.AddrFromSlice(tcp.IP) // the zero Addr stands for all addresses
	ip = ip.Unmap()
	switch {
	case ip.IsLoopback():
		return true, nil
	case !ip.IsValid(), ip.IsUnspecified(), mdns.Local(ip):
		return false, nil
	}
	return false, usagef("--listen %s is not an address of this machine or of a local network: for access over the internet use a relay with TLS (--relay)", address)
}

// listen opens a listener in the local network.
func (b *beside) listen(address string) (net.Listener, error) {
	l, err := listen(address)
	if err != nil {
		return nil, err
	}
	if err := b.reached.add(l.Addr()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// forHost is the relay as the host sees it.
func (b *beside) forHost() *host.Beside {
	out := &host.Beside{Dial: b.gate.Dial, Network: b.reached.URLs}
	if b.page {
		out.Page = &b.mounted
	}
	return out
}

// besideFolder is not the folder of `scorel relay serve`, which may run with the same home.
const besideFolder = "listener"

// startBeside runs the relay for a host that was made. The caller must stop the part.
func startBeside(ctx context.Context, stderr io.Writer, b *beside, h *host.Host, cfg host.Config) *part {
	options := serve.Options{
		Listener: b.gate, DataDir: filepath.Join(cfg.Home, besideFolder), PublicURLs: b.reached.URLs(), Device: h.DeviceID(),
		Guard: serve.Guard{Memory: besideMemory}, Web: webFiles(stderr), Docs: docFiles(), Logger: cfg.Logger, Version: version,
		Mount: b.mounted.set, Drain: -1, // its host is in this process and ends with it
		Ready:  func() error { close(b.ready); return nil },
		Reload: b.reached.reload, Names: b.reached.URLs,
	}
	if at, err := netip.ParseAddrPort(h.State().Addr); err == nil && b.page {
		b.gate.mounted = net.TCPAddrFromAddrPort(at)
	}
	return startPart(context.WithoutCancel(ctx), func(ctx context.Context) error {
		var following sync.WaitGroup
		looking, stop := context.WithCancel(ctx)
		following.Go(func() { b.reached.follow(looking, h.PathsChanged, options.Logger) })
		err := serve.Run(ctx, options)
		stop()
		following.Wait()
		return err
	})
}
