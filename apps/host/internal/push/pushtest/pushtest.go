// Package pushtest is a push service and its browsers, for tests. The service enforces what RFC
// 8030, 8188, 8291 and 8292 demand of a host, and refuses the rest as real services do. It shares
// no code with the sender.
package pushtest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Name is the host name of the service.
const Name = "push.example.com"

// Service is a push service over TLS.
type Service struct {
	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	browsers map[string]*Browser // by the path of their endpoint
	answer   func(w http.ResponseWriter) bool
	faults   []string
}

// Delivered is a notification that arrived at a browser.
type Delivered struct {
	Content             []byte
	Topic, Urgency, TTL string
}

// Browser has a subscription.
type Browser struct {
	Endpoint, P256dh, Auth string
	// Messages receives what arrives, in order.
	Messages chan Delivered

	key    *ecdh.PrivateKey
	secret []byte
	host   string // the VAPID key that may send
	gone   bool
}

// New starts a service that ends with the test. A request that breaks a rule fails the test.
func New(t testing.TB) *Service {
	s := &Service{t: t, browsers: map[string]*Browser{}}
	s.server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.server.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, fault := range s.faults {
			t.Errorf("push service: %s", fault)
		}
	})
	return s
}

// Client reaches the service by its name, and nothing else.
func (s *Service) Client() *http.Client {
	client := s.server.Client()
	transport := client.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // of the certificate
	transport.DisableKeepAlives = true
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, Name+":") {
			return nil, fmt.Errorf("the test does not know %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, s.server.Listener.Addr().String())
	}
	client.Transport = transport
	return client
}

// Subscribe makes a browser that accepts notifications of the host with a VAPID key.
func (s *Service) Subscribe(hostKey string) *Browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	b := &Browser{key: key, secret: make([]byte, 16), host: hostKey, Messages: make(chan Delivered, 100)}
	_, _ = rand.Read(b.secret) // never fails since Go 1.24
	path := "/send/" + rand.Text()
	b.Endpoint, b.P256dh, b.Auth = "https://"+Name+path, encode(key.PublicKey().Bytes()), encode(b.secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[path] = b
	return b
}

// End ends the subscription of a browser.
func (s *Service) End(b *Browser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.gone = true
}

// Answer has the service call a function for each request that follows. If that returns true, it
// has answered, and nothing is delivered. nil ends that.
func (s *Service) Answer(with func(w http.ResponseWriter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = with
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, with := s.browsers[r.URL.Path], s.answer
	gone := b == nil || b.gone
	s.mu.Unlock()
	delivered, err := s.check(r, b)
	switch {
	case gone:
		w.WriteHeader(http.StatusGone)
	case err != nil:
		s.mu.Lock()
		s.faults = append(s.faults, err.Error())
		s.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
	case with != nil && with(w):
	default:
		w.Header().Set("Location", "https://"+Name+"/message/x")
		w.WriteHeader(http.StatusCreated)
		b.Messages <- delivered
	}
}

// check returns what a request carries, or which rule it breaks.
func (s *Service) check(r *http.Request, b *Browser) (d Delivered, err error) {
	if b == nil {
		return d, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 5000))
	d = Delivered{Topic: r.Header.Get("Topic"), Urgency: r.Header.Get("Urgency"), TTL: r.Header.Get("TTL")}
	ttl, ttlErr := strconv.Atoi(d.TTL)
	switch {
	case err != nil:
		return d, err
	case r.Method != http.MethodPost:
		return d, fmt.Errorf("method %s", r.Method)
	case len(body) > 4096:
		return d, fmt.Errorf("a body of %d bytes", len(body))
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return d, errors.New("the content encoding is not aes128gcm")
	case ttlErr != nil || ttl < 0 || ttl > 2419200:
		return d, fmt.Errorf("TTL %q", d.TTL)
	case d.Urgency != "very-low" && d.Urgency != "low" && d.Urgency != "normal" && d.Urgency != "high":
		return d, fmt.Errorf("urgency %q", d.Urgency)
	case len(d.Topic) > 32 || strings.Trim(d.Topic, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "":
		return d, fmt.Errorf("topic %q", d.Topic)
	}
	if err := checkVAPID(r.Header.Get("Authorization"), b.host, time.Now()); err != nil {
		return d, err
	}
	d.Content, err = b.Open(body)
	return d, err
}

// checkVAPID verifies the signature of a request.
func checkVAPID(header, hostKey string, now time.Time) error {
	rest, ok := strings.CutPrefix(header, "vapid t=")
	token, key, ok2 := strings.Cut(rest, ", k=")
	parts := strings.Split(token, ".")
	if !ok || !ok2 || key != hostKey || len(parts) != 3 {
		return fmt.Errorf("authorization %q", header)
	}
	point, err1 := base64.RawURLEncoding.DecodeString(key)
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	claims, err3 := base64.RawURLEncoding.DecodeString(parts[1])
	head, err4 := base64.RawURLEncoding.DecodeString(parts[0])
	if err := errors.Join(err1, err2, err3, err4); err != nil || len(point) != 65 || len(signature) != 64 {
		return fmt.Errorf("the token is malformed: %v", err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is wrong")
	}
	var alg struct{ Alg, Typ string }
	var c struct {
		Aud, Sub string
		Exp      int64
	}
	if err := errors.Join(json.Unmarshal(head, &alg), json.Unmarshal(claims, &c)); err != nil {
		return err
	}
	expires := time.Unix(c.Exp, 0)
	if alg.Alg != "ES256" || c.Aud != "https://"+Name || expires.Before(now) || expires.After(now.Add(24*time.Hour)) ||
		!strings.HasPrefix(c.Sub, "https://") && !strings.HasPrefix(c.Sub, "mailto:") {
		return fmt.Errorf("claims %s", claims)
	}
	return nil
}

// Open decrypts a body as a browser does.
func (b *Browser) Open(body []byte) ([]byte, error) {
	if len(body) < 86+17 || body[20] != 65 {
		return nil, fmt.Errorf("a body of %d bytes", len(body))
	}
	salt, size, point, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if int(size) < len(record) || size < 18 {
		return nil, fmt.Errorf("a record of %d bytes in one of %d", len(record), size)
	}
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	own := b.key.PublicKey().Bytes()
	input := expand(sign(b.secret, shared), "WebPush: info\x00"+string(own)+string(point), 32)
	prk := sign(salt, input)
	block, err := aes.NewCipher(expand(prk, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, expand(prk, "Content-Encoding: nonce\x00", 12), record, nil)
	if err != nil {
		return nil, err
	}
	end := strings.TrimRight(string(plain), "\x00")
	if !strings.HasSuffix(end, "\x02") {
		return nil, errors.New("the last record does not end as one")
	}
	return []byte(end[:len(end)-1]), nil
}

func sign(key, data []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(data) // never fails
	return mac.Sum(nil)
}

// expand is HKDF-Expand for one block.
func expand(prk []byte, info string, length int) []byte {
	return sign(prk, append([]byte(info), 1))[:length]
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
