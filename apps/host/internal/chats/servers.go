package chats

import (
	"errors"
	"net/url"

	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/packages/protocol/api"
)

// errPrivateServer says what to do about a server that a client named and that is not public.
var errPrivateServer = errors.New("the server has an address of this machine or of a local network, to which only a channel connects that was added on the machine itself: add it there with `scorel channel add`")

// publicOnly reports whether a channel that a connection adds may connect to public addresses only:
// whoever is not on the machine must not have it call servers of its network. The error is for a
// server that is certainly not public.
func publicOnly(conn *dispatch.Conn, kind platforms.Kind, settings map[string]string) (bool, error) {
	servers := kind.Servers(settings)
	if conn.May(api.GrantLocal) || len(servers) == 0 {
		return false, nil
	}
	for _, address := range servers {
		if u, err := url.Parse(address); err == nil && publicnet.CheckHost(u.Hostname()) != nil {
			return true, api.Errorf(api.KindNotAllowed, "%v", errPrivateServer)
		}
	}
	return true, nil
}

// explained is why a platform was not reached, with what to do.
func explained(err error) error {
	if errors.Is(err, publicnet.ErrPrivate) {
		return errPrivateServer
	}
	return err
}
