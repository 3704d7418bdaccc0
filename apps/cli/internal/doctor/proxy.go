package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// throughProxy requests a connection to the relay from an HTTP proxy.
func (p *probe) throughProxy(ctx context.Context) outcome {
	switch {
	case p.proxy == nil:
		return skipped("the environment names none for this address")
	case p.target.Scheme == "ws":
		p.hangUp()
		return warn(ProxyUnseen, "requests go through %s unencrypted, and many proxies block WebSockets there", p.hop)
	case p.proxy.Scheme != "http" && p.proxy.Scheme != "https":
		p.hangUp()
		return warn(ProxyUnseen, "connections go through the %s proxy %s, which cannot be tested separately", p.proxy.Scheme, p.hop)
	}
	response, err := p.connectRequest(ctx)
	if err != nil {
		return failed(ProxyFailed, unreachable(err), "the proxy %s did not answer: %s", p.hop, reason(err))
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return ok("%s connected to %s", p.hop, hostPort(p.target))
	case code == http.StatusProxyAuthRequired:
		return failed(ProxyLogin, ErrRefused, "the proxy %s requires a login", p.hop)
	case code >= http.StatusInternalServerError:
		return failed(ProxyFailed, unreachable(fmt.Errorf("the proxy answered %s", response.Status)), "the proxy %s answered %s", p.hop, response.Status)
	default:
		return failed(ProxyRefused, ErrRefused, "the proxy %s answered %s", p.hop, response.Status)
	}
}

// connectRequest turns the connection to the proxy into one to the relay.
func (p *probe) connectRequest(ctx context.Context) (*http.Response, error) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = p.conn.SetDeadline(deadline) // fails only on a closed connection, which the next call reports
	}
	if p.proxy.Scheme == "https" {
		cfg := p.tlsConfig()
		cfg.ServerName = p.proxy.Hostname()
		p.conn = tls.Client(p.conn, cfg)
	}
	to := hostPort(p.target)
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	if user := p.proxy.User; user != nil {
		password, _ := user.Password()
		login := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+login)
	}
	if err := request.Write(p.conn); err != nil {
		return nil, err
	}
	// The relay is silent until TLS begins, so no data is buffered beyond the response.
	response, err := http.ReadResponse(bufio.NewReader(p.conn), request)
	if err != nil {
		return nil, err
	}
	_ = p.conn.SetDeadline(time.Time{})
	return response, nil
}
