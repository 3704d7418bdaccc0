package mcpauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

const callbackPath = "/callback"

// remembered is how long a flow that has ended says how it ended.
const remembered = time.Minute

// flow is one sign-in that a person began. It ends once: with a sign-in, an error, or its
// deadline.
type flow struct {
	id, by   string
	server   Server
	state    string
	verifier string
	found    discovered
	client   registered
	scopes   []string
	redirect string
	expires  time.Time
	listener net.Listener

	taken bool          // its response is being used; guarded by Auth.mu
	done  chan struct{} // closed after problem was set
	// problem is why the sign-in failed, for people; "" if it succeeded.
	problem string
}

// Begun is what a person needs to sign in.
type Begun struct {
	ID, URL, Issuer, Redirect string
	Scopes                    []string
	Expires                   time.Time
}

// Begin starts a sign-in to a server. It replaces one that waits for the same server.
func (a *Auth) Begin(ctx context.Context, s Server, by string) (Begun, error) {
	if err := checkURL(s.Key.URL); err != nil {
		return Begun{}, api.Errorf(api.KindBadRequest, "tokens cannot be used with the server %s: %v", s.Key.Server, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*a.options.Timeout)
	defer cancel()
	challenge := a.probe(ctx, s.Key)
	found, err := a.discover(ctx, s, challenge)
	if err != nil {
		return Begun{}, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.OAuth.CallbackPort)))
	if err != nil {
		return Begun{}, api.Errorf(api.KindUnavailable, "the port for the response cannot be opened: %v", err)
	}
	f := &flow{
		id: "sgn_" + rand.Text(), by: by, server: s, state: rand.Text(), verifier: oauth2.GenerateVerifier(), found: found,
		redirect: "http://" + listener.Addr().String() + callbackPath, expires: deadline(), listener: listener, done: make(chan struct{}),
	}
	f.scopes = found.scopes
	if have, ok := a.options.SignIns.Find(s.Key); ok && have.Issuer == found.server.Issuer { // keeps what was granted before
		f.scopes = union(have.Scopes, found.scopes)
	}
	if f.client, err = a.register(ctx, s, found.server, f.redirect); err == nil {
		err = a.keep(f)
	}
	if err != nil {
		_ = listener.Close() // no one knows of it
		return Begun{}, err
	}
	a.options.Logger.Info("a sign-in to an MCP server began", "server", s.Key.Server, "issuer", host(found.server.Issuer), "client", by)
	return Begun{ID: f.id, URL: f.url(), Issuer: found.server.Issuer, Redirect: f.redirect, Scopes: f.scopes, Expires: f.expires}, nil
}

// probe returns the challenge of a server: that of its last refusal, or of one request without
// a token.
func (a *Auth) probe(ctx context.Context, key state.SignInKey) Challenge {
	a.mu.Lock()
	challenge, known := a.challenges[key]
	a.mu.Unlock()
	if known {
		return challenge
	}
	client, idle := a.client(key.URL, false)
	defer idle()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, key.URL, nil)
	if err != nil {
		return challenge
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := client.Do(request)
	if err != nil {
		return challenge // the well-known addresses may work, or explain why not
	}
	defer func() { _ = answer.Body.Close() }()
	return challengeOf(answer)
}

// config is the flow for the library that exchanges the code.
func (f *flow) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: f.client.id, ClientSecret: f.client.secret, RedirectURL: f.redirect, Scopes: f.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: f.found.server.AuthorizationEndpoint, TokenURL: f.found.server.TokenEndpoint, AuthStyle: f.client.style},
	}
}

// url returns the address that the person opens.
func (f *flow) url() string {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(f.verifier), oauth2.SetAuthURLParam("resource", f.found.resource)}
	return f.config().AuthCodeURL(f.state, options...)
}

// keep makes a flow the one that waits for its server, and serves its port.
func (a *Auth) keep(f *flow) error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return errors.New("mcpauth: the host is stopping")
	}
	for _, other := range a.flows {
		if other.server.Key == f.server.Key && !other.taken {
			a.endLocked(other, "another sign-in to the server was started")
		}
	}
	if len(a.flows) >= maxFlows {
		a.mu.Unlock()
		return api.Errorf(api.KindConflict, "%d sign-ins are waiting or have just ended, which is the limit: try again in a minute", maxFlows)
	}
	a.flows[f.id] = f
	a.ending.Add(1)
	a.mu.Unlock()
	go func() {
		defer a.ending.Done()
		a.serve(f)
	}()
	return nil
}

// endLocked ends a flow that is not taken. Auth.mu is held.
func (a *Auth) endLocked(f *flow, problem string) {
	f.taken, f.problem = true, problem
	close(f.done)
}

// serve receives the response at the flow's port until the flow has ended, and removes the flow
// a little later, so that whoever waits for it sees how it ended.
func (a *Auth) serve(f *flow) {
	server := &http.Server{Handler: a.page(f), ReadTimeout: a.options.Timeout, WriteTimeout: 2 * a.options.Timeout, MaxHeaderBytes: maxHeader}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(f.listener) // ends with Close
	}()
	timer := time.NewTimer(time.Until(f.expires))
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
		a.expire(f, "no one signed in within ten minutes")
	case <-a.ctx.Done():
		a.expire(f, "the host was stopped")
	}
	<-f.done
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), time.Second)
	_ = server.Shutdown(ctx) // lets the browser read the page
	cancel()
	_ = server.Close()
	<-served
	shown := time.NewTimer(remembered)
	defer shown.Stop()
	select {
	case <-shown.C:
	case <-a.ctx.Done():
	}
	a.mu.Lock()
	delete(a.flows, f.id)
	a.mu.Unlock()
}

func (a *Auth) expire(f *flow, problem string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !f.taken {
		a.endLocked(f, problem)
	}
}

// page answers the browser that the authorization server sent back.
func (a *Auth) page(f *flow) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if "http://"+r.Host+callbackPath != f.redirect {
			http.Error(w, "This address is not the one of the sign-in.", http.StatusMisdirectedRequest)
			return
		}
		if err := a.finish(r.Context(), f, r.URL.RawQuery); err != nil {
			http.Error(w, "The sign-in failed: "+err.Error()+".\nYou can close this page.", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "You are signed in to the MCP server %s. You can close this page.\n", f.server.Key.Server)
	})
	return mux
}

// Finish uses the address to which a browser elsewhere was sent. id is the flow that the person
// was shown.
func (a *Auth) Finish(ctx context.Context, id, returned string) error {
	a.mu.Lock()
	f := a.flows[id]
	a.mu.Unlock()
	if f == nil {
		return gone()
	}
	u, err := url.Parse(strings.TrimSpace(returned))
	if err != nil || u.Scheme+"://"+u.Host+u.Path != f.redirect || u.User != nil || u.Fragment != "" {
		return api.Errorf(api.KindBadRequest, "this is not the address to which the browser was sent, which begins with %s: copy the whole address from the browser", f.redirect)
	}
	return a.finish(ctx, f, u.RawQuery)
}

func gone() error {
	return api.Errorf(api.KindNotFound, "this sign-in has ended: start it again")
}

// Await waits until a flow has ended or ctx ends. ended is false if it still waits. problem is
// why it failed, or "".
func (a *Auth) Await(ctx context.Context, id string) (key state.SignInKey, problem string, ended bool, err error) {
	a.mu.Lock()
	f := a.flows[id]
	a.mu.Unlock()
	if f == nil {
		return key, "", false, gone()
	}
	select {
	case <-f.done:
		return f.server.Key, f.problem, true, nil
	case <-ctx.Done():
		return f.server.Key, "", false, nil
	}
}
