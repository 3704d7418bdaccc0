package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/atomicfile"
)

// contact is where the operator of a push service can ask about requests of a host. RFC 8292
// wants one, and some services refuse requests without.
const contact = "https://github.com/scorel/scorel"

// tokenFor is how long a signature of a request is valid. RFC 8292 allows a day.
const tokenFor = 12 * time.Hour

// Key identifies the host to push services. Browsers pin it: they accept notifications of
// this host only.
type Key struct {
	private *ecdsa.PrivateKey
	public  string // in base64url
}

// LoadKey reads the key from path, or makes it there with mode 0600.
func LoadKey(path string) (*Key, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("push: reading the key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, damagedKey(path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || private.Curve != elliptic.P256() {
		return nil, damagedKey(path)
	}
	return newKey(private)
}

func damagedKey(path string) error {
	return fmt.Errorf("push: %s is damaged: repair it, or move it away and turn notifications on again in each browser", path)
}

func createKey(path string) (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("push: making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("push: encoding a key: %w", err)
	}
	if err := atomicfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return nil, fmt.Errorf("push: storing the key: %w", err)
	}
	return newKey(private)
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	public, err := private.PublicKey.ECDH()
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return &Key{private: private, public: base64.RawURLEncoding.EncodeToString(public.Bytes())}, nil
}

// Public is the public key in base64url, as browsers expect it.
func (k *Key) Public() string { return k.public }

// origin is the origin of an endpoint as browsers write it: in lower case, without the port of
// https.
func origin(u *url.URL) string {
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

// authorize returns the header that proves to a push service who sends (RFC 8292). It is for
// the origin of one endpoint.
func (k *Key) authorize(endpoint *url.URL, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub"`
	}{origin(endpoint), now.Add(tokenFor).Unix(), contact})
	if err != nil {
		return "", fmt.Errorf("push: encoding claims: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("push: signing: %w", err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + encode(signature) + ", k=" + k.public, nil
}
