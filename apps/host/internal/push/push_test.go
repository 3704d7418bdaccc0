package push

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheExampleOfTheStandard: the body is that of RFC 8291, appendix A, bit by bit.
func TestTheExampleOfTheStandard(t *testing.T) {
	bytesOf := func(s string) []byte {
		t.Helper()
		b, err := decode(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	to, err := recipientOf(Address{
		P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg",
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdh.P256().NewPrivateKey(bytesOf("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := sealWith([]byte("When I grow up, I want to be a watermelon"), 0, to, key, bytesOf("DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil {
		t.Fatal(err)
	}
	want := bytesOf("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if !bytes.Equal(body, want) {
		t.Fatalf("got %x\nwant %x", body, want)
	}
}

// TestEveryContentHasOneLength: the push service learns nothing from the length, and accepts it.
func TestEveryContentHasOneLength(t *testing.T) {
	key, err := LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	to, err := recipientOf(Address{P256dh: key.Public(), Auth: "BTBZMqHH6r4Tts7J_aSIgg=="})
	if err != nil {
		t.Fatal(err)
	}
	short, errShort := seal([]byte("x"), to)
	long, errLong := seal(make([]byte, paddedBytes), to)
	if errShort != nil || errLong != nil || len(short) != len(long) || len(long) > 4096 {
		t.Fatalf("%v, %v: %d and %d bytes", errShort, errLong, len(short), len(long))
	}
	if _, err := seal(make([]byte, paddedBytes+1), to); err == nil {
		t.Fatal("a content that is too long was encrypted")
	}
}

func TestTheKeyStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "push.pem")
	first, err := LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, info.Mode())
	}
	if again, err := LoadKey(path); err != nil || again.Public() != first.Public() {
		t.Fatalf("%v: the key changed", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Fatalf("a damaged key: %v", err)
	}
}

// TestTheProofNamesTheOrigin: the audience is the origin as RFC 6454 writes it.
func TestTheProofNamesTheOrigin(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://Push.Example.com:443/x": "https://push.example.com", "https://push.example.com/x": "https://push.example.com",
	} {
		u, err := url.Parse(endpoint)
		if err != nil || origin(u) != want {
			t.Errorf("%s: %q, %v", endpoint, origin(u), err)
		}
	}
}

// TestAddressesOfTheNetworkAreRefused: a client cannot have the host call into its network.
func TestAddressesOfTheNetworkAreRefused(t *testing.T) {
	for _, url := range []string{
		"http://push.example.com/x", "https://localhost/x", "https://a.localhost./x", "https://127.0.0.1/x", "https://[::1]/x", "https://printer/x", "ftp://example.com/x",
		"https://user@example.com/x", "https://example.com/x#y", "https:///x", "/x", "https:x", "", "https://2130706433/x",
	} {
		if _, err := checkURL(Address{URL: url}); err == nil {
			t.Errorf("%q was accepted", url)
		}
	}
}

// TestADialedAddressIsChecked: a name that resolves to this machine is refused when it is dialed,
// whatever it resolved to before.
func TestADialedAddressIsChecked(t *testing.T) {
	called := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer server.Close()
	result := NewClients().post(t.Context(), Address{URL: server.URL}, nil, http.Header{})
	if called || result.Err == nil || result.Retry || !strings.Contains(result.Err.Error(), "not public") {
		t.Fatalf("%+v, called: %t", result, called)
	}
}

// TestAnswersOfServers: redirects are not followed, long and hanging answers are cut off, and
// what people read has no control characters.
func TestAnswersOfServers(t *testing.T) {
	var answer func(w http.ResponseWriter, r *http.Request)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	defer server.Close()
	clients := Clients{Public: server.Client(), Private: server.Client()}
	for name, c := range map[string]struct {
		status int
		header string
		value  string
		check  func(Result) bool
	}{
		"redirect":       {307, "Location", "http://169.254.169.254/", func(r Result) bool { return r.Err != nil && !r.Retry && !r.Ended }},
		"gone":           {410, "", "", func(r Result) bool { return r.Ended }},
		"not found":      {404, "", "", func(r Result) bool { return r.Ended }},
		"too many":       {429, "Retry-After", "90", func(r Result) bool { return r.Retry && r.After == 90*time.Second }},
		"too long a way": {503, "Retry-After", "99999999", func(r Result) bool { return r.Retry && r.After == maxAfter }},
		"a date":         {503, "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", func(r Result) bool { return r.Retry && r.After == 0 }},
		"refused": {403, "", "", func(r Result) bool {
			return r.Err != nil && !r.Retry && !strings.ContainsAny(r.Err.Error(), "\x1b\n") && len(r.Err.Error()) < 300
		}},
		"accepted": {201, "", "", func(r Result) bool { return r.Err == nil }},
	} {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			if c.header != "" {
				w.Header().Set(c.header, c.value)
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte("no\x1b[31m\n" + strings.Repeat("x", 1<<20))) // the reader may leave
		}
		if r := clients.post(t.Context(), Address{URL: server.URL + "/x"}, nil, http.Header{}); !c.check(r) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	answer = func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }
	if r := clients.post(ctx, Address{URL: server.URL + "/secret"}, nil, http.Header{}); !r.Retry || strings.Contains(r.Err.Error(), "secret") {
		t.Errorf("a server that hangs: %+v", r)
	}
}

// TestANameThatIsNotFound: the message, which people elsewhere read, has no address of this
// machine's network.
func TestANameThatIsNotFound(t *testing.T) {
	err := &url.Error{Op: "Post", URL: "https://push.invalid/secret", Err: &net.DNSError{Name: "push.invalid", Server: "10.0.0.53:53", Err: "no such host"}}
	if r := failed(err); !r.Retry || strings.Contains(r.Err.Error(), "10.0.0.53") || strings.Contains(r.Err.Error(), "secret") {
		t.Errorf("%+v", r)
	}
}

// TestNtfyHasWhatPeopleRead: the message is text, and its action is a link to the page.
func TestNtfyHasWhatPeopleRead(t *testing.T) {
	var got *http.Request
	var body bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = body.ReadFrom(r.Body) // the test looks at what arrived
	}))
	defer server.Close()
	n := &Ntfy{HTTP: Clients{Public: server.Client(), Private: server.Client()}}
	to := Address{URL: server.URL + "/topic", Private: true, Page: "https://scorel.example.com/"}
	if r := n.Send(t.Context(), to, Message{Device: "dev_1", Session: "s/1", Title: "Grüße", Text: "Approval needed: Run make", Urgent: true}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if got.Header.Get("Actions") != "view, Open, https://scorel.example.com/d/dev_1/s/s%2F1" || got.Header.Get("Title") != "=?utf-8?b?R3LDvMOfZQ==?=" ||
		got.Header.Get("Priority") != "high" || body.String() != "Approval needed: Run make" {
		t.Fatalf("%v %q", got.Header, body.String())
	}
	to.Private = false
	if err := n.Check(to); err == nil {
		t.Fatal("an address of this machine was accepted from a client that is elsewhere")
	}
	for _, page := range []string{"javascript:alert(1)", "https://a/?x", "https://a/#x", "https://u@a"} {
		if checkPage(page) == nil {
			t.Errorf("the page %q was accepted", page)
		}
	}
}

// TestMessagesFit: whatever is in a message, it is refused rather than cut when it is too long.
func TestMessagesFit(t *testing.T) {
	key, err := LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &Web{Key: key, HTTP: NewClients()}
	to := Address{URL: "https://push.example.com/x", P256dh: key.Public(), Auth: "BTBZMqHH6r4Tts7J_aSIgg"}
	r := w.Send(t.Context(), to, Message{Text: strings.Repeat("<", 3000)})
	if r.Err == nil || r.Retry || !strings.Contains(r.Err.Error(), "limit") {
		t.Fatalf("%+v", r)
	}
	for _, bad := range []Address{
		{URL: to.URL, P256dh: to.P256dh}, {URL: to.URL, P256dh: "AAAA", Auth: to.Auth}, {URL: to.URL + ":", P256dh: strings.Repeat("A", 87), Auth: to.Auth},
		{URL: "https://push.example.com:8443/x", P256dh: to.P256dh, Auth: to.Auth},
	} {
		if w.Check(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
