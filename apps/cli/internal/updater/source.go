// Package updater replaces this program by that of a newer release.
//
// Nothing of a release is used before its index was verified with a key that this program was
// built with. The address of the release, the network and mirrors can withhold an update, and
// nothing else.
package updater

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/release"
)

// DefaultURL is the folder of the newest release.
const DefaultURL = "https://github.com/scorel/scorel/releases/latest/download"

// Errors of a release that is not to be installed.
var (
	ErrForged      = errors.New("the release is not signed with a key that this program trusts")
	ErrOlder       = errors.New("the release is older than this program")
	ErrWrongFile   = errors.New("the file is not the one of the release")
	ErrUnsafe      = errors.New("the address does not use https")
	ErrUnreachable = errors.New("the release cannot be reached")
)

// Source is where releases come from.
type Source struct {
	base *url.URL
	keys []string
	http *http.Client
}

// Limits of time for one file.
const (
	headerTimeout = 30 * time.Second
	fileTimeout   = 10 * time.Minute
)

// NewSource returns the source at the address of a folder. It must use https; http is allowed
// for this machine alone. keys are the public keys to trust.
func NewSource(address string, keys []string) (*Source, error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%w: %q is not an address such as %s", ErrUnsafe, address, DefaultURL)
	}
	if err := checkAddress(base, base); err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: headerTimeout, ForceAttemptHTTP2: true}
	return &Source{base: base, keys: keys, http: &http.Client{
		Transport: transport,
		Timeout:   fileTimeout,
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			if len(before) > 10 {
				return errors.New("more than 10 redirects")
			}
			return checkAddress(before[0].URL, next.URL)
		},
	}}, nil
}

// checkAddress allows https. http is allowed for this machine, if the first address was one of
// this machine too.
func checkAddress(first, at *url.URL) error {
	if at.Scheme == "https" || at.Scheme == "http" && first.Scheme == "http" && loopback.Is(first.Host) && loopback.Is(at.Host) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnsafe, at.Redacted())
}

// Close closes idle connections.
func (s *Source) Close() { s.http.CloseIdleConnections() }

// Newest returns the index of the release at the address, whose signature is valid.
func (s *Source) Newest(ctx context.Context) (release.Index, error) {
	data, err := s.get(ctx, release.IndexName, release.MaxIndex)
	if err != nil {
		return release.Index{}, err
	}
	signature, err := s.get(ctx, release.IndexName+release.SignatureSuffix, release.MaxIndex)
	if err != nil {
		return release.Index{}, err
	}
	if err := release.Verify(s.keys, data, signature); err != nil {
		return release.Index{}, fmt.Errorf("%w: %w", ErrForged, err)
	}
	return release.Parse(data)
}

// Program returns the program of a release for a platform.
func (s *Source) Program(ctx context.Context, index release.Index, goos, goarch string) ([]byte, error) {
	file, err := index.Archive(goos, goarch)
	if err != nil {
		return nil, err
	}
	data, err := s.get(ctx, file.Name, file.Size)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if int64(len(data)) != file.Size || hex.EncodeToString(sum[:]) != file.SHA256 {
		return nil, fmt.Errorf("%w: %s has %d bytes of %d, or a wrong checksum", ErrWrongFile, file.Name, len(data), file.Size)
	}
	return unpack(file.Name, data)
}

// get downloads a file of at most limit bytes.
func (s *Source) get(ctx context.Context, name string, limit int64) ([]byte, error) {
	at := s.base.JoinPath(name).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("updater: asking for %s: %w", at, err)
	}
	response, err := s.http.Do(request)
	switch {
	case errors.Is(err, ErrUnsafe):
		return nil, fmt.Errorf("downloading %s: %w", at, err)
	case err != nil:
		return nil, fmt.Errorf("%w at %s (%w): check the network, or give the address of a mirror with --from", ErrUnreachable, at, relayconn.Brief(err))
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s answers %s", ErrUnreachable, at, response.Status)
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(response.Body, limit+1))
	switch {
	case n > limit:
		return nil, fmt.Errorf("%w: %s is longer than %d bytes", ErrWrongFile, name, limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: %s ended after %d bytes", ErrWrongFile, name, n)
	case err != nil:
		return nil, fmt.Errorf("%w: downloading %s: %w", ErrUnreachable, name, err)
	}
	return out.Bytes(), nil
}
