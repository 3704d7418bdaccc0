// Package keystore stores small secrets in the system's key store: Keychain on
// macOS, the Secret Service on Linux, the Credential Manager on Windows. Every call
// has a time limit, because a locked store may wait for a person who is not there.
package keystore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	keyring "github.com/zalando/go-keyring"
)

// service is the name under which the store files scorel's secrets.
const service = "scorel"

var (
	// ErrNotFound is returned if the store answers but has no such secret.
	ErrNotFound = errors.New("the system's key store has no such secret")
	// ErrUnavailable is returned if there is no store or it does not answer.
	ErrUnavailable = errors.New("the system's key store cannot be used")
)

// Get returns the secret of an account. Its errors wrap ErrNotFound or
// ErrUnavailable.
func Get(ctx context.Context, account string) (secret string, err error) {
	type got struct {
		secret string
		err    error
	}
	result, err := bounded(ctx, func() got {
		secret, err := keyring.Get(service, account)
		return got{secret, err}
	})
	if err != nil {
		return "", err
	}
	return result.secret, explain(result.err)
}

// Set stores the secret of an account, replacing an existing one.
func Set(ctx context.Context, account, secret string) error {
	result, err := bounded(ctx, func() error { return keyring.Set(service, account, secret) })
	return errors.Join(err, explain(result))
}

// Delete removes the secret of an account; a missing secret is not an error.
func Delete(ctx context.Context, account string) error {
	result, err := bounded(ctx, func() error { return keyring.Delete(service, account) })
	if errors.Is(result, keyring.ErrNotFound) {
		result = nil
	}
	return errors.Join(err, explain(result))
}

// bounded runs a call of the library, which takes no context. An abandoned call
// continues until the store answers or the process ends: it waits for a person and
// holds no resources.
func bounded[T any](ctx context.Context, call func() T) (result T, err error) {
	if why := missing(); why != "" {
		return result, fmt.Errorf("%w: %s", ErrUnavailable, why)
	}
	if ctx.Err() != nil {
		return result, fmt.Errorf("%w: the deadline had already passed", ErrUnavailable)
	}
	done := make(chan T, 1)
	broken := make(chan any, 1)
	go func() {
		// The library panics if the bus ends while it waits for a person.
		defer func() {
			if why := recover(); why != nil {
				broken <- why
			}
		}()
		done <- call()
	}()
	select {
	case result = <-done:
		return result, nil
	case <-broken:
		return result, fmt.Errorf("%w: the session bus closed the connection", ErrUnavailable)
	case <-ctx.Done():
		return result, fmt.Errorf("%w: it did not answer in time; it may be waiting to be unlocked", ErrUnavailable)
	}
}

// missing returns why there is no store. Without a session bus the library would
// start one.
func missing() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return ""
	}
	if folder := os.Getenv("XDG_RUNTIME_DIR"); folder != "" {
		if _, err := os.Stat(filepath.Join(folder, "bus")); err == nil {
			return ""
		}
	}
	return "there is no session bus (no desktop session?)"
}

func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
