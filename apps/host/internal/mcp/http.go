package mcp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxAnswer bounds a response over HTTP, in bytes after decompression. The SDK has the same
// bound for an event of a stream and for the output of a child process.
const maxAnswer = 16 << 20

var errTooLong = errors.New("the server's response is larger than the limit of 16 MiB")

// httpClient sends the configured headers and tokens to the configured server only, and not
// after a redirect to another host or to an unencrypted address.
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
	own := r.URL.Scheme == t.scheme && r.URL.Host == t.host
	if !own && r.Header.Get("Authorization") != "" { // net/http keeps it for subdomains
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
	}
	if own && len(t.headers) > 0 {
		r = r.Clone(r.Context())
		for name, value := range t.headers {
			r.Header.Set(name, value)
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// A stream is endless, and the SDK bounds its events.
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		response.Body = &boundedBody{response.Body, maxAnswer}
	}
	return response, nil
}

// boundedBody is a body limited to left bytes.
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
