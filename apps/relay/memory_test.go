package relay_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/relay/relaytest"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestShortMemoryRefusesNewWorkFirst(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Memory = 64 << 20 })
	entry := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	r := s.Relay
	dial := func() int {
		req := httptest.NewRequest(http.MethodGet, "http://localhost"+wire.ConnectPath, nil)
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if rec.Code == http.StatusServiceUnavailable && rec.Header().Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		return rec.Code
	}
	device := relaytest.NewKeys(t, ident.KindDevice).ID()
	open := func() wire.Kind {
		entry.Send(&wire.OpenChannel{RequestID: "open", DeviceID: device})
		return relaytest.Expect[wire.ErrorFrame](entry).Kind
	}
	for _, tc := range []struct {
		percent    int64
		dial       int
		open       wire.Kind
		thin, fat  bool
		readsLarge bool
	}{
		{0, http.StatusUpgradeRequired, wire.KindUnauthorized, true, true, true}, // both got as far as they can here
		{70, http.StatusUpgradeRequired, wire.KindUnauthorized, true, false, true},
		{80, http.StatusServiceUnavailable, wire.KindUnauthorized, true, false, true},
		{85, http.StatusServiceUnavailable, wire.KindLimit, true, false, true},
		{100, http.StatusServiceUnavailable, 0, false, false, false},
	} {
		release := r.FillMemory(tc.percent)
		if got := dial(); got != tc.dial {
			t.Errorf("at %d %%: a connection gets %d, want %d", tc.percent, got, tc.dial)
		}
		if tc.open == 0 {
			// Not even an answer fits.
		} else if got := open(); got != tc.open {
			t.Errorf("at %d %%: a channel gets %s, want %s", tc.percent, got, tc.open)
		}
		if thin, fat := r.Grants(0, bufpool.Small), r.Grants(1<<20, bufpool.Small); thin != tc.thin || fat != tc.fat {
			t.Errorf("at %d %%: thin %v, fat %v; want %v, %v", tc.percent, thin, fat, tc.thin, tc.fat)
		}
		if got := r.Grants(bufpool.Medium, bufpool.Large); got != tc.readsLarge {
			t.Errorf("at %d %%: a reader gets a large buffer: %v", tc.percent, got)
		}
		release()
	}
	entry.Close()
	if !r.AwaitNoConns(rawPatience) {
		t.Fatal("the connection did not end with its peer")
	}
	defer r.FillMemory(10)() // with no connection left, nothing else changes the account
	used := strconv.FormatFloat(float64(r.Used()), 'g', -1, 64)
	rec := httptest.NewRecorder()
	r.MetricsHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`scorel_relay_refused_total{reason="memory"} 3`, `scorel_relay_memory_limit_bytes 6.7108864e+07`, "scorel_relay_memory_bytes " + used,
	} {
		if !strings.Contains(rec.Body.String(), want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}
