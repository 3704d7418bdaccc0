package model

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRedirectsStayAtTheServer: only its own server gets prompts and the key of a provider,
// whatever that server answers.
func TestRedirectsStayAtTheServer(t *testing.T) {
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	for _, kind := range kinds {
		for _, test := range []struct {
			name, to string // to "" is another path of the server
			saved    bool
			want     string
		}{
			{"elsewhere", other + "/v1", false, "set the base_url in config.toml to the one that it leads to"},
			{"elsewhere, saved", other + "/v1", true, "set the address of the provider test to the one that it leads to"},
			{"within, saved", "", true, "redirects to another address (HTTP 307), which is not followed"},
			{"within", "", false, "reached"},
		} {
			t.Run(kind+" "+test.name, func(t *testing.T) {
				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/moved" {
						http.Error(w, `{"error":{"message":"reached"}}`, http.StatusBadRequest)
						return
					}
					to := test.to
					if to == "" {
						to = "/moved"
					}
					http.Redirect(w, r, to, http.StatusTemporaryRedirect)
				})
				config := testConfig(kind, url)
				config.Provider, config.Saved = "test", test.saved
				made, _ := build(t, config)
				if message, _ := stream(t, t.Context(), made); !strings.Contains(message.ErrorMessage, test.want) {
					t.Errorf("%q, want %q", message.ErrorMessage, test.want)
				}
			})
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another server got %d requests", n)
	}
}

func TestWhichRedirectsAreFollowed(t *testing.T) {
	for _, test := range []struct {
		from, to string
		follow   bool
	}{
		{"https://a.test/v1", "https://a.test/v2", true},
		{"http://a.test/v1", "https://a.test/v1", true},
		{"http://a.test:80/v1", "https://a.test:8443/v1", true},
		{"https://a.test/v1", "http://a.test/v1", false},
		{"https://a.test/v1", "https://a.test:8443/v1", false},
		{"https://a.test/v1", "https://b.a.test/v1", false},
	} {
		first, err := http.NewRequest(http.MethodPost, test.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := http.NewRequest(http.MethodPost, test.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Config{}).checkRedirect(next, []*http.Request{first}); (err == nil) != test.follow {
			t.Errorf("%s to %s: %v", test.from, test.to, err)
		}
	}
	var many []*http.Request
	for range maxRedirects {
		r, err := http.NewRequest(http.MethodPost, "https://a.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, r)
	}
	if (Config{}).checkRedirect(many[0], many) == nil {
		t.Error("redirects are not bounded")
	}
}

// TestGooglePath: whatever the id of a model of Google is, the request goes to a model.
func TestGooglePath(t *testing.T) {
	for id, want := range map[string]string{
		"gemini-2.5-flash":        "gemini-2.5-flash",
		"models/gemini-2.5-flash": "gemini-2.5-flash",
		"tunedModels/a b":         "tunedModels/a%20b",
		"x?key=y#z":               "x%3Fkey=y%23z",
	} {
		if got := googlePath(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
