package mcp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxAnswer bounds an answer over HTTP, in bytes after it was inflated, as the SDK
// bounds an event of a stream and what a child says.
const maxAnswer = 16 << 20

var errTooLong = errors.New("the server's answer is longer than 16 MiB, which is the limit")

// httpClient sends the configured headers to the configured server, and not to where
// it may redirect: to another host, or to the same one in the clear.
func httpClient(d definition) *http.Client {
	t := serverTransport{headers: d.Headers}
	if u, err := url.Parse(d.URL); err == nil {
		t.scheme, t.host = u.Scheme, u.Host
	}
	return &http.Client{Transport: t}
}

type serverTransport struct {
	scheme, host string
	headers      map[string]string
}

func (t serverTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == t.scheme && r.URL.Host == t.host && len(t.headers) > 0 {
		r = r.Clone(r.Context())
		for name, value := range t.headers {
			r.Header.Set(name, value)
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// A stream has no end, and the SDK bounds its events.
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		response.Body = &boundedBody{response.Body, maxAnswer}
	}
	return response, nil
}

// boundedBody is a body of which no more than left bytes are read.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
