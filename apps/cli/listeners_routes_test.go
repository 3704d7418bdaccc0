package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// servedPaths has a path for each route that any listener has; TestEveryRouteIsAttacked finds
// what is missing here.
var servedPaths = []string{
	"/", "/index.html", "/g.html", "/docs", "/docs/permissions", "/healthz", "/readyz", "/metrics", "/v1/", wire.ConnectPath, client.DirectPath, "/v1/get_host", "/v1/stop_host",
	"/v1/triggers/trg_1", "/v1/sessions/1/events", "/v1/openapi.json",
}

// routePattern matches a registration of a route: its pattern, which may end with a constant.
var routePattern = regexp.MustCompile(`mux\.(?:HandleFunc|Handle|Get|Post|Method)\((?:method, )?(?:"([^"]*)")?(?: ?\+ ?)?(client\.DirectPath|wire\.ConnectPath)?,`)

// TestEveryRouteIsAttacked: what a listener serves is in the list of paths that the tests of
// listeners attack.
func TestEveryRouteIsAttacked(t *testing.T) {
	constants := map[string]string{"client.DirectPath": client.DirectPath, "wire.ConnectPath": wire.ConnectPath}
	for file, routes := range map[string]int{"apps/host/internal/httpapi/server.go": 9, "apps/relay/http.go": 8, "apps/relay/serve/front.go": 1} {
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := routePattern.FindAllStringSubmatch(string(source), -1)
		if registered := strings.Count(string(source), "mux.") - strings.Count(string(source), "mux.Use("); len(found) != routes || registered != routes {
			t.Errorf("%s registers %d routes, of which %d were read, not %d: change this test", file, registered, len(found), routes)
		}
		for _, route := range found {
			pattern := strings.Replace(route[1]+constants[route[2]], "/*", "/", 1)
			if !isAttacked(pattern) {
				t.Errorf("%s serves %s, which no test attacks: add a path to servedPaths", file, pattern)
			}
		}
	}
}

// isAttacked reports whether a pattern matches one of the attacked paths.
func isAttacked(pattern string) bool {
	method, _, named := strings.Cut(pattern, " ")
	if !named {
		method = http.MethodGet
	}
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	for _, path := range servedPaths {
		if _, matched := mux.Handler(httptest.NewRequest(method, path, nil)); matched == pattern {
			return true
		}
	}
	return false
}
