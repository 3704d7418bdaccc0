package release

import (
	"errors"
	"fmt"
	"os"

	"aead.dev/minisign"
)

// ErrSignature means that a signature is not of one of the keys, or of other data.
var ErrSignature = errors.New("the signature is not valid")

// Key signs releases.
type Key = minisign.PrivateKey

// Sign returns the signature of data in the format of minisign. comment is signed too.
func Sign(key Key, data []byte, comment string) []byte {
	return minisign.SignWithComments(key, data, comment, "signature of a release of scorel")
}

// Verify checks that one of the public keys has signed data. Keys are in the format of
// minisign, without its comment. More than one key is trusted while a key is being replaced.
func Verify(keys []string, data, signature []byte) error {
	if len(signature) > MaxIndex {
		return ErrSignature
	}
	for _, text := range keys {
		var key minisign.PublicKey
		if err := key.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("release: reading the public key %.60q: %w", text, err)
		}
		if minisign.Verify(key, data, signature) {
			return nil
		}
	}
	return ErrSignature
}

// LoadKey reads a private key from a file of minisign. password may be "" if the key is not
// encrypted.
func LoadKey(path, password string) (Key, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("release: reading the signing key: %w", err)
	}
	return ParseKey(data, password)
}

// ParseKey reads a private key of minisign.
func ParseKey(data []byte, password string) (key Key, err error) {
	if minisign.IsEncrypted(data) {
		key, err = minisign.DecryptKey(password, data)
	} else {
		err = key.UnmarshalText(data)
	}
	if err != nil {
		return Key{}, errors.New("release: the signing key cannot be read: is it a private key of minisign, and is the password correct?")
	}
	return key, nil
}

// PublicKey returns the text of the public key that belongs to a private one, without a comment.
func PublicKey(key Key) string { return fmt.Sprint(key.Public()) }
