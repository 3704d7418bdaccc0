package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// recorder is a response whose deadlines are of no interest.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetWriteDeadline(time.Time) error { return nil }

// TestASilentStreamIsKeptAlive: comments come while nothing happens, and none before
// the answer has begun.
func TestASilentStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := recorder{httptest.NewRecorder()}
		stream, err := newEventStream(w, "s", api.Anchors{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if request, err := stream.Receive(ctx); err != nil || !strings.Contains(string(request), "resync_events") {
			t.Fatalf("it asks for %s, %v", request, err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := stream.Receive(ctx)
			ended <- err
		}()
		time.Sleep(heartbeatEvery + time.Second)
		synctest.Wait()
		if w.Body.Len() > 0 {
			t.Errorf("before the answer it sent %q", w.Body)
		}
		if err := stream.Send(ctx, []byte(`{"type":"response","result":{"anchors":{"epoch":"e","persistentLastSeq":1,"streamLastSeq":2}}}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * heartbeatEvery)
		synctest.Wait()
		if got := strings.Count(w.Body.String(), ": alive\n\n"); got != 2 || !strings.Contains(w.Body.String(), "id: e.1.2\n") {
			t.Errorf("in two beats it sent %q", w.Body)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("it goes on after its end")
		}
	})
}

// TestATokenThatWasRevokedMeanwhileGetsNoConnection: between the look at the token
// and the list of connections it may have been revoked.
func TestATokenThatWasRevokedMeanwhileGetsNoConnection(t *testing.T) {
	tokens, err := state.LoadTokens(filepath.Join(t.TempDir(), "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{hub: newHub(), tokens: tokens}
	_, far := newPipe()
	if err := h.serveConn(t.Context(), far, "tok_0123456789abcdef", api.AllGrants()); !errors.Is(err, errTokenRevoked) {
		t.Errorf("its connection ended with %v", err)
	}
}

// TestAConnectionEndsWithItsToken: not before, and not only with the next request.
func TestAConnectionEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, err := state.LoadTokens(filepath.Join(t.TempDir(), "tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		token, err := tokens.Add(strings.Repeat("ab", 32), "brief", api.AllGrants(), time.Now().Add(time.Hour).UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		h := &Host{hub: newHub(), tokens: tokens}
		_, far := newPipe()
		begun := time.Now()
		if err := h.serveConn(t.Context(), far, token.ID, token.Grants); !errors.Is(err, errTokenExpired) {
			t.Errorf("its connection ended with %v", err)
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("its connection ended after %s", took)
		}
	})
}

// TestEveryKindHasAStatus: only a fault of the host is a 500, and the guide says so
// of each.
func TestEveryKindHasAStatus(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	for kind := api.KindUnknownRequest; !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		status := httpStatus(kind)
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| %d \\| .*`%s`", status, kind))
		if !row.Match(guide) {
			t.Errorf("docs/http.md does not say that %s goes out with the status %d", kind, status)
		}
		if (status == http.StatusInternalServerError) != (kind == api.KindInternal) {
			t.Errorf("the kind %s goes out with the status %d", kind, status)
		}
	}
}

func FuzzParseEventID(f *testing.F) {
	f.Add("3f9a0c1d22ab4e01.41.97")
	f.Add("..")
	f.Fuzz(func(t *testing.T, id string) {
		anchors, err := parseEventID(id)
		if err != nil || id == "" {
			return
		}
		if again, err := parseEventID(eventID(anchors)); err != nil || again != anchors {
			t.Errorf("%q reads as %+v, then %+v", id, anchors, again)
		}
	})
}
