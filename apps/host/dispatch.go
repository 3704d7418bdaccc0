package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// handler serves one request. A nil result with a nil error means that it has
// answered by itself.
type handler func(ctx context.Context, c *conn, requestID string, body []byte) (any, error)

// handle makes a handler of a typed function.
func handle[Request, Response any](serve func(context.Context, *conn, Request) (Response, error)) handler {
	return func(ctx context.Context, c *conn, _ string, body []byte) (any, error) {
		var request Request
		if err := json.Unmarshal(body, &request); err != nil {
			return nil, badField(err)
		}
		return serve(ctx, c, request)
	}
}

func badField(err error) error {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return api.Errorf(api.KindBadRequest, "the field %s has the wrong type", typeErr.Field)
	}
	return api.Errorf(api.KindBadRequest, "a field cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// handlers is what serves each line of the table of requests; a test holds that
// the two agree.
func (h *Host) handlers() map[string]handler {
	return map[string]handler{
		"get_host":          handle(h.getHost),
		"list_projects":     handle(h.listProjects),
		"add_project":       handle(h.addProject),
		"remove_project":    handle(h.removeProject),
		"list_dir":          handle(h.listDir),
		"list_sessions":     handle(h.listSessions),
		"search_sessions":   handle(h.searchSessions),
		"create_session":    handle(h.createSession),
		"rename_session":    handle(h.renameSession),
		"set_model":         handle(h.setModel),
		"set_mode":          handle(h.setMode),
		"trust_project":     handle(h.trustProject),
		"delete_session":    handle(h.deleteSession),
		"copy_session":      handle(h.copySession),
		"import_session":    handle(h.importSession),
		"fork_session":      handle(h.forkSession),
		"get_tree":          handle(h.getTree),
		"rewind_session":    handle(h.rewindSession),
		"navigate_session":  handle(h.navigateSession),
		"set_label":         handle(h.setLabel),
		"compact_session":   handle(h.compactSession),
		"edit_queue":        handle(h.editQueue),
		"resync_events":     h.resyncEvents,
		"get_entries":       handle(h.getEntries),
		"get_process_log":   handle(h.getProcessLog),
		"unsubscribe":       handle(h.unsubscribe),
		"send_prompt":       handle(h.sendPrompt),
		"cancel_turn":       handle(h.cancelTurn),
		"answer_approval":   handle(h.answerApproval),
		"answer_question":   handle(h.answerQuestion),
		"list_rules":        handle(h.listRules),
		"add_rule":          handle(h.addRule),
		"remove_rule":       handle(h.removeRule),
		"list_mcp_servers":  handle(h.listMCPServers),
		"decide_mcp_server": handle(h.decideMCPServer),
		"list_clients":      handle(h.listClients),
		"revoke_client":     handle(h.revokeClient),
		"create_token":      handle(h.createToken),
		"list_tokens":       handle(h.listTokens),
		"revoke_token":      handle(h.revokeToken),
		"create_pairing":    handle(h.createPairing),
		"redeem_pairing":    handle(h.redeemPairing),
		"await_pairing":     handle(h.awaitPairing),
		"finish_pairing":    handle(h.finishPairing),
		"stop_host":         handle(h.stopHost),
	}
}

// waits tells of requests that take as long as a person, a network or a database does; they
// do not hold up the requests behind them.
func waits(name string) bool {
	switch name {
	case "copy_session", "import_session", "delete_session":
		return true
	}
	return strings.HasSuffix(name, "_pairing")
}

// request is a parsed and admitted request.
type request struct {
	name, id string
	body     []byte
	serve    handler
	waits    bool
}

// parse reads a request and checks the grant that it needs. A refusal comes back
// as the encoded answer.
func (c *conn) parse(message []byte) (request, []byte) {
	var head api.RequestHead
	if err := json.Unmarshal(message, &head); err != nil || !isObject(message) {
		return request{}, c.refusal("", api.Errorf(api.KindBadRequest, "the request is not a JSON object"))
	}
	if head.RequestID == "" {
		return request{}, c.refusal("", api.Errorf(api.KindBadRequest, "the request has no requestId"))
	}
	admitted, err := c.admit(head.Type)
	if err != nil {
		return request{}, c.refusal(head.RequestID, err)
	}
	admitted.id, admitted.body = head.RequestID, message
	return admitted, nil
}

func isObject(message []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(message), []byte("{")) }

// admit finds a request by its name and checks the grant that it needs.
func (c *conn) admit(name string) (request, *api.Error) {
	spec, ok := api.Lookup(name)
	serve := c.host.serve[name]
	switch {
	case !ok || serve == nil:
		return request{}, api.Errorf(api.KindUnknownRequest, "this host does not know the request %.40q: it may be older than this entry", name)
	case !c.may(spec.Grant):
		return request{}, api.Errorf(api.KindNotAllowed, "%s needs the grant %q, which this connection does not have", spec.Name, spec.Grant)
	}
	return request{name: spec.Name, serve: serve, waits: waits(spec.Name)}, nil
}

// handle runs a request and queues its answer.
func (c *conn) handle(ctx context.Context, r request) {
	result, err := r.serve(ctx, c, r.id, r.body)
	switch {
	case err != nil:
		c.send(c.refusal(r.id, c.explain(r.name, err)))
	case result != nil:
		c.respond(r.id, result)
	}
}

func (c *conn) respond(requestID string, result any) {
	answer, err := api.EncodeResponse(requestID, result)
	if err != nil {
		answer = c.refusal(requestID, c.explain("answer", err))
	}
	c.send(answer)
}

// explain turns an error into one for the wire. What is no api.Error is a fault
// of the host, whose text stays in its log.
func (c *conn) explain(name string, err error) *api.Error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refused
	}
	c.host.log.Error("a request failed", "request", name, "client", c.clientID, "error", err)
	return api.Errorf(api.KindInternal, "the host could not do it: its log says why")
}

func (c *conn) refusal(requestID string, err *api.Error) []byte {
	answer, encodeErr := api.EncodeError(requestID, err)
	if encodeErr != nil { // two strings and a number always encode
		c.cancel(encodeErr)
	}
	return answer
}
