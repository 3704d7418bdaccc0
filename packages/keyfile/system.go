package keyfile

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// systemVersion is the version of a file whose secret is in the system's key store.
// Programs that do not know it reject the file and change nothing.
const systemVersion = 2

// loadTimeout limits how long a start waits for the key store.
const loadTimeout = 5 * time.Second

// systemSecret reads the secret of a file that refers to the key store.
func systemSecret(path string, f file) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	secret, err := keystore.Get(ctx, f.ID)
	switch {
	case errors.Is(err, keystore.ErrNotFound):
		return "", fmt.Errorf("keyfile: %s refers to the keys of %s in the system's key store, but the key store does not have them: restore it, or delete the file and pair again (%w)", path, f.ID, err)
	case err != nil:
		return "", fmt.Errorf("keyfile: the keys of %s are in the system's key store: log in to the desktop and unlock it, then try again (%w)", f.ID, err)
	}
	return secret, nil
}

// IsMissing reports whether an error means that there is no file.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// InSystem reports whether the secret of the identity at path is in the system's
// key store. A missing file is fs.ErrNotExist.
func InSystem(path string) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("keyfile: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return false, damaged(path)
	}
	return f.Version == systemVersion, nil
}

func damaged(path string) error {
	return fmt.Errorf("keyfile: %s is damaged: restore it from a backup, or delete it and pair again", path)
}

// Move moves the secret of the identity at path to the system's key store, or back
// into the file. The new copy is read back before the old one is removed, so that
// an error or a crash leaves at least one. A missing file is fs.ErrNotExist.
func Move(ctx context.Context, path string, kind ident.Kind, toSystem bool) error {
	inSystem, err := InSystem(path)
	if err != nil || inSystem == toSystem {
		return err
	}
	keys, err := Load(path, kind)
	if err != nil {
		return err
	}
	id, secret := keys.ID().String(), base64.RawURLEncoding.EncodeToString(keys.ExportSecret())
	f := file{Version: fileVersion, ID: id, Secret: secret}
	if toSystem {
		f = file{Version: systemVersion, ID: id}
		if err := keystore.Set(ctx, id, secret); err != nil {
			return fmt.Errorf("keyfile: %w", err)
		}
		if back, err := keystore.Get(ctx, id); err != nil || back != secret {
			return errors.Join(fmt.Errorf("keyfile: the system's key store does not return what was saved; %s is kept unchanged", path), err)
		}
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("keyfile: encoding an identity: %w", err)
	}
	if err := atomicfile.Write(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keyfile: %w", err)
	}
	if toSystem {
		return nil
	}
	return keystore.Delete(ctx, id)
}
