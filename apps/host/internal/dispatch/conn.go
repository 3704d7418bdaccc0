package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/diskerror"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// errEncodeEvent ends the connection of a guest for which an event cannot be encoded. It catches
// up from the log.
var errEncodeEvent = errors.New("an event could not be encoded for a guest")

// LocalID identifies a direct connection of this machine's user, in place of a client id.
const LocalID = "host"

// Conn is the connection of one client: over a relay, direct, or for a single HTTP
// request. Its reader runs the requests in order; its outbox sends answers and events.
type Conn struct {
	// Static after construction.
	dispatcher *Dispatcher
	clientID   string // a client id, LocalID, or the id of a token
	cancel     context.CancelCauseFunc
	ended      context.Context
	out        Outbox         // nil for a single HTTP request, which is answered directly
	requests   sync.WaitGroup // requests that run beside the reader; Run waits for them
	running    running        // bounds these

	// Owned by the reader.
	subscriptions map[string]func(context.Context) // ends each, by session

	mu     sync.Mutex
	access Access
	placed map[string]string // the projects of the sessions that a limited connection named
	shown  map[string]bool   // the sessions that it follows for a person
	hidden []string          // of these, the ones that no one sees now

	watching bool        // a person sees the list of sessions; guarded by the hub's mu
	away     atomic.Bool // no one sees anything of this connection now
}

// ClientID is a client id, LocalID, or the id of a token.
func (c *Conn) ClientID() string { return c.clientID }

// IsToken reports whether the connection is that of a program, and not of a client or of this
// machine's user.
func (c *Conn) IsToken() bool {
	_, err := ident.ParseClientID(c.clientID)
	return err != nil && c.clientID != LocalID
}

// Ended returns a context that ends with the connection.
func (c *Conn) Ended() context.Context { return c.ended }

// Out is where answers and events of the connection go. It is nil for a single HTTP request.
func (c *Conn) Out() Outbox { return c.out }

// End ends the connection; why is the error that Run returns.
func (c *Conn) End(why error) { c.cancel(why) }

// Finish ends the connection once its answers were sent. Until then it may do nothing.
func (c *Conn) Finish(why error) {
	c.setAccess(Access{})
	if queue, ok := c.out.(interface{ Finish(error) }); ok {
		queue.Finish(why)
		return
	}
	c.End(why)
}

// Deliver implements sessions.Subscriber. It leaves out events of sessions that the
// connection does not see any more.
func (c *Conn) Deliver(envelope api.EventEnvelope, encoded []byte) {
	if !c.shows(envelope.SessionID) {
		return
	}
	if c.Guest() {
		part, reduced, ok := forGuest(envelope, encoded)
		if !ok {
			c.cancel(errEncodeEvent)
			return
		}
		envelope, encoded = part, reduced
	}
	c.out.Event(envelope, encoded)
}

// SetAway records whether no one sees anything of the connection now; true when that is a
// change. A new connection is seen.
func (c *Conn) SetAway(away bool) bool { return c.away.Swap(away) != away }

// SetHidden records which of the sessions that the connection follows no one sees now; true
// when that is a change.
func (c *Conn) SetHidden(sessions []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := !slices.Equal(c.hidden, sessions)
	c.hidden = sessions
	return changed
}

// looksAt reports whether a person with a grant sees a session on this connection now.
func (c *Conn) looksAt(grant api.Grant, sessionID string) bool {
	if c.Guest() || !c.May(grant) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.Away() && c.shown[sessionID] && !slices.Contains(c.hidden, sessionID)
}

// Away implements sessions.Subscriber.
func (c *Conn) Away() bool { return c.away.Load() }

// May implements sessions.Subscriber: it reports whether the connection has a grant now.
func (c *Conn) May(grant api.Grant) bool { return slices.Contains(c.Grants(), grant) }

// Grants returns what the connection may do now. The caller must not change the slice.
func (c *Conn) Grants() []api.Grant { return c.Access().Grants }

// Lacks returns the error for something that needs a grant which the connection does not have.
// what is its subject, such as "saving a key".
func (c *Conn) Lacks(grant api.Grant, what string) *api.Error {
	return api.Errorf(api.KindNotAllowed, "%s needs the grant %q, which this connection does not have%s", what, grant, remedy(c.clientID, grant))
}

// remedy says how a client gets a grant.
func remedy(clientID string, grant api.Grant) string {
	_, err := ident.ParseClientID(clientID)
	switch {
	case grant == api.GrantLocal:
		return ": do this on the host's machine"
	case err == nil && slices.Contains(api.ClientGrants(), grant):
		return fmt.Sprintf(": give it on the host's machine with `scorel host clients grant %s %s`", clientID, grant)
	case strings.HasPrefix(clientID, tokenPrefix):
		return ": create a token that has it on the host's machine with `scorel host token create`"
	}
	return ""
}

// CheckMayLoosen returns an error for a connection that may not answer approvals: a rule
// that allows answers them all, and so does removing one that asks or denies.
func (c *Conn) CheckMayLoosen() error {
	if c.May(api.GrantApprove) {
		return nil
	}
	return c.Lacks(api.GrantApprove, "allowing more also")
}

// Subscribed records that the connection receives the events of a session until end is
// called. Only handlers of requests that run in order may call it.
func (c *Conn) Subscribed(sessionID string, end func(context.Context)) {
	c.subscriptions[sessionID] = end
}

// Shows records whether the events of a session are for a person, until Unsubscribe. Those of
// a token are not, and a chat does not report whether a person views it.
func (c *Conn) Shows(sessionID string, person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown == nil {
		c.shown = map[string]bool{}
	}
	c.shown[sessionID] = person && !strings.HasPrefix(c.clientID, tokenPrefix) && !strings.HasPrefix(c.clientID, chatPrefix)
}

// Unsubscribe ends the subscription to a session, if there is one. Only handlers of
// requests that run in order may call it.
func (c *Conn) Unsubscribe(ctx context.Context, sessionID string) {
	if end, ok := c.subscriptions[sessionID]; ok {
		end(ctx)
		delete(c.subscriptions, sessionID)
		c.mu.Lock()
		delete(c.shown, sessionID)
		c.mu.Unlock()
	}
}

// Leave ends all subscriptions.
func (c *Conn) Leave(ctx context.Context) {
	for _, end := range c.subscriptions {
		end(context.WithoutCancel(ctx))
	}
}

// readLoop serves the requests that a transport receives. It reads no further while too many run
// beside it.
func (c *Conn) readLoop(ctx context.Context, transport client.Transport) error {
	for {
		message, err := transport.Receive(ctx)
		if err != nil {
			return err
		}
		request, refusal := c.parse(message)
		if refusal != nil {
			c.out.Answer(refusal)
			continue
		}
		if request.Concurrent {
			size := len(request.Body)
			if err := c.running.begin(ctx, size); err != nil {
				return err
			}
			request.Body = bytes.Clone(request.Body) // the transport reuses its memory
			c.requests.Go(func() {
				defer c.running.end(size)
				c.handle(ctx, request)
			})
			continue
		}
		c.handle(ctx, request)
	}
}

// parse reads a request and checks the grant that it needs. A refusal is returned as the
// encoded answer.
func (c *Conn) parse(message []byte) (Request, []byte) {
	var head api.RequestHead
	if !IsObject(message) || exactjson.Unmarshal(message, &head) != nil {
		return Request{}, c.refusal("", api.Errorf(api.KindBadRequest, "the request is not a JSON object"))
	}
	if head.RequestID == "" {
		return Request{}, c.refusal("", api.Errorf(api.KindBadRequest, "the request has no requestId"))
	}
	request, err := c.Admit(head.Type)
	if err != nil {
		return Request{}, c.refusal(head.RequestID, err)
	}
	request.id, request.Body = head.RequestID, message
	return request, nil
}

// IsObject reports whether a message starts as a JSON object does.
func IsObject(message []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(message), []byte("{")) }

// Admit finds a request by its name and checks the grant that it needs.
func (c *Conn) Admit(name string) (Request, *api.Error) {
	e, ok := c.dispatcher.endpoints[name]
	switch {
	case !ok:
		return Request{}, api.Errorf(api.KindUnknownRequest, "this host does not know the request %.40q: it may be older than this client", name)
	case !c.May(e.Grant):
		return Request{}, c.Lacks(e.Grant, "this")
	}
	return Request{Endpoint: e}, nil
}

// Run checks the fields of a request and serves it. Unless it fails, reply is called once,
// possibly from another goroutine. The error is one for the wire.
func (c *Conn) Run(ctx context.Context, r Request, reply func(any)) *api.Error {
	if err := r.schema.Check(r.Body, r.Strict); err != nil {
		return err
	}
	if err := c.checkNamed(r); err != nil {
		return err
	}
	if err := r.serve(ctx, c, r.Body, reply); err != nil {
		return c.Explain(r.Name, err)
	}
	return nil
}

// handle runs a request and queues its answer.
func (c *Conn) handle(ctx context.Context, r Request) {
	if err := c.Run(ctx, r, func(result any) { c.respond(r.id, result) }); err != nil {
		c.out.Answer(c.refusal(r.id, err))
	}
}

func (c *Conn) respond(requestID string, result any) {
	answer, err := api.EncodeResponse(requestID, result)
	if err != nil {
		answer = c.refusal(requestID, c.Explain("answer", err))
	}
	c.out.Answer(answer)
}

// Explain turns an error into one for the wire. Of errors that are not an api.Error, those of
// the disk are explained; any other is a fault of the host, whose text stays in the host's log.
func (c *Conn) Explain(name string, err error) *api.Error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refused
	}
	c.dispatcher.Logger.Error("a request failed", "request", name, "client", c.clientID, "error", err)
	if text := diskerror.Explain(err); text != "" {
		return api.Errorf(api.KindUnavailable, "%s", text)
	}
	return api.Errorf(api.KindInternal, "the host failed to handle the request: see its log")
}

func (c *Conn) refusal(requestID string, err *api.Error) []byte {
	answer, encodeErr := api.EncodeError(requestID, err)
	if encodeErr != nil { // two strings and a number always encode
		c.cancel(encodeErr)
	}
	return answer
}
