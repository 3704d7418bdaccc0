// Package keyfile stores the identity of a host or a command-line entry in one file
// of mode 0600. The file is created atomically on first use, and rejected if others
// can read it or create files beside it. On request the secret is moved to the
// system's key store, and the file refers to it.
package keyfile

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const fileVersion = 1

// file is the JSON form. ID is for people; the secret is authoritative.
type file struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Secret  string `json:"secret,omitempty"` // unpadded base64url of the 64 secret bytes; of systemVersion in the key store
}

// LoadOrCreate reads the identity at path, or generates one of the given kind if
// there is no file. Two processes that start together get the same keys.
func LoadOrCreate(path string, kind ident.Kind) (*ident.Private, error) {
	keys, err := Load(path, kind)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	return create(path, kind)
}

// Load reads the identity at path. A missing file is fs.ErrNotExist.
func Load(path string, kind ident.Kind) (*ident.Private, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("keyfile: %s can be read by other users (mode %04o): run chmod 600 on it; if someone may have read it, delete it and pair again", path, info.Mode().Perm())
	}
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	return parse(path, data, kind)
}

func parse(path string, data []byte, kind ident.Kind) (*ident.Private, error) {
	var f file
	if err := exactjson.Strict(data, &f); err != nil || f.Version != fileVersion && f.Version != systemVersion {
		return nil, damaged(path)
	}
	if f.Version == systemVersion {
		var err error
		if f.Secret, err = systemSecret(path, f); err != nil {
			return nil, err
		}
	}
	secret, err := base64.RawURLEncoding.DecodeString(f.Secret)
	if err != nil {
		return nil, damaged(path)
	}
	keys, err := ident.ImportSecret(kind, secret)
	if err != nil {
		return nil, fmt.Errorf("keyfile: reading %s: %w", path, err)
	}
	if f.ID != keys.ID().String() {
		return nil, fmt.Errorf("keyfile: %s names %s, but its keys are those of %s: restore it from a backup", path, f.ID, keys.ID())
	}
	return keys, nil
}

func create(path string, kind ident.Kind) (*ident.Private, error) {
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("keyfile: creating an identity: %w", err)
	}
	data, err := json.MarshalIndent(file{
		Version: fileVersion,
		ID:      keys.ID().String(),
		Secret:  base64.RawURLEncoding.EncodeToString(keys.ExportSecret()),
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("keyfile: encoding an identity: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	err = atomicfile.Create(path, append(data, '\n'), 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return Load(path, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	return keys, nil
}
