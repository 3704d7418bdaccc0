package httpapi

import (
	"context"
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

	"github.com/scorel/scorel/apps/host/internal/dispatch"
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
		stream := newEventStream(w, "s")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- stream.keepAlive(ctx) }()
		time.Sleep(heartbeatEvery + time.Second)
		synctest.Wait()
		if w.Body.Len() > 0 {
			t.Errorf("before the answer it sent %q", w.Body)
		}
		stream.since(api.Anchors{Epoch: "e", PersistentLastSeq: 1, StreamLastSeq: 2})
		if err := stream.send(ctx, dispatch.Outgoing{Message: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * heartbeatEvery)
		synctest.Wait()
		if got := strings.Count(w.Body.String(), ": alive\n\n"); got != 2 || !strings.Contains(w.Body.String(), "id: e.1.2\n") {
			t.Errorf("in two beats it sent %q", w.Body)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("it continues after its end")
		}
	})
}

// TestEveryKindHasAStatus: only a fault of the host is a 500, and the guide says so
// of each.
func TestEveryKindHasAStatus(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "http.md"))
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
