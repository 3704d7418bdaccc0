package state_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens.json")
		tokens, err := state.LoadTokens(path)
		if err != nil {
			t.Fatal(err)
		}
		grants := []api.Grant{api.GrantView}
		end := time.Now().Add(time.Hour).UnixMilli()
		brief, err := tokens.Add(hashOf("brief"), "brief", grants, end)
		if err != nil || brief.ExpiresAt != end {
			t.Fatalf("%+v, %v", brief, err)
		}
		if again, err := tokens.Add(hashOf("brief"), "brief", grants, end); err != nil || again.CreatedAt != brief.CreatedAt {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		var refused *api.Error
		if _, err := tokens.Add(hashOf("brief"), "brief", grants, 0); !errors.As(err, &refused) || refused.Kind != api.KindConflict {
			t.Errorf("with another end: %v", err)
		}
		if _, err := tokens.Add(hashOf("long"), "long", grants, 0); err != nil {
			t.Fatal(err)
		}
		want := func(secret string, want state.Admission) {
			t.Helper()
			if _, got := tokens.Check(secret); got != want {
				t.Errorf("%s after %s: %v, want %v", secret, time.Since(time.UnixMilli(end).Add(-time.Hour)), got, want)
			}
		}
		time.Sleep(time.Hour - time.Millisecond)
		want("brief", state.TokenGood)
		time.Sleep(time.Millisecond)
		want("brief", state.TokenExpired)
		want("long", state.TokenGood)
		want("other", state.TokenUnknown)
		if tokens, err = state.LoadTokens(path); err != nil {
			t.Fatal(err)
		}
		want("brief", state.TokenExpired)
	})
}

// TestExpiredTokensMakeRoom: expired tokens are removed, the first expired first; valid
// ones never are.
func TestExpiredTokensMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, err := state.LoadTokens(filepath.Join(t.TempDir(), "tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		add := func(i int, expiresAt int64) error {
			name := fmt.Sprint("token ", i)
			_, err := tokens.Add(hashOf(name), name, []api.Grant{api.GrantView}, expiresAt)
			return err
		}
		for i := range 100 {
			end := int64(0)
			if i == 7 || i == 8 {
				end = time.Now().Add(time.Duration(10-i) * time.Hour).UnixMilli() // the later one expires first
			}
			if err := add(i, end); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(100, 0); err == nil {
			t.Error("there was room though nothing had expired")
		}
		time.Sleep(5 * time.Hour)
		for _, i := range []int{100, 101} {
			if err := add(i, 0); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if i == 100 {
				if _, got := tokens.Check("token 7"); got != state.TokenExpired {
					t.Errorf("the one that expired last is %v", got)
				}
			}
		}
		if err := add(102, 0); err == nil {
			t.Error("there was room a third time")
		}
		if _, got := tokens.Check("token 0"); got != state.TokenGood {
			t.Errorf("one that works is %v", got)
		}
	})
}
