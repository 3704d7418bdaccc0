package relay

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestReloadReachesEveryRate(t *testing.T) {
	r := newTestRelay(t, Limits{})
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	odd := Rate{Burst: 77, Every: 77 * time.Second}
	var limits Limits
	fields := reflect.ValueOf(&limits).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Type() == reflect.TypeFor[Rate]() {
			fields.Field(i).Set(reflect.ValueOf(odd))
		}
	}
	r.guards.set(limits)
	guards := reflect.ValueOf(&r.guards).Elem()
	for i := range guards.NumField() {
		rate := guards.Field(i).Elem().FieldByName("rate")
		if rate.FieldByName("Burst").Int() != int64(odd.Burst) {
			t.Errorf("%s is left as it was", guards.Type().Field(i).Name)
		}
	}
}

func TestReloadOfLimits(t *testing.T) {
	r := newTestRelay(t, Limits{Connections: 1, Logins: Rate{Burst: 1, Every: time.Hour}})
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	id := ident.NewID(ident.KindClient, ident.Public{})
	if !r.guards.logins.take(id) || r.guards.logins.take(id) {
		t.Fatal("the first limit does not hold")
	}
	r.mu.Lock()
	r.conns[new(conn)] = struct{}{}
	r.mu.Unlock()
	ready := func() int {
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost"+wire.ConnectPath, nil))
		return rec.Code
	}
	if got := ready(); got != http.StatusServiceUnavailable {
		t.Fatalf("a full relay answers %d", got)
	}
	if err := r.Reload(Settings{Limits: Limits{Connections: 2, Logins: Rate{Burst: 2, Every: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	if got := ready(); got == http.StatusServiceUnavailable || !r.guards.logins.take(id) || r.guards.logins.take(id) {
		t.Fatalf("the new limits do not hold: %d", got)
	}
	if err := r.Reload(Settings{Limits: Limits{Connections: -1}}); err == nil || r.limits().Connections != 2 {
		t.Fatalf("bad limits: %v, %d connections", err, r.limits().Connections)
	}
	r.mu.Lock()
	clear(r.conns)
	r.mu.Unlock()
}
