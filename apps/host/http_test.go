package host_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/seal"
)

// httpEntry is a program that uses a host by HTTP.
type httpEntry struct {
	t           *testing.T
	base, token string
	client      *http.Client
}

func newHTTPEntry(t *testing.T, h *host.Host, token string) httpEntry {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return httpEntry{t, "http://" + h.State().Addr, token, &http.Client{Transport: transport, Timeout: time.Minute}}
}

func (e httpEntry) request(method, path, body string) *http.Request {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.base+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if e.token != "" {
		r.Header.Set("Authorization", "Bearer "+e.token)
	}
	return r
}

func (e httpEntry) do(r *http.Request) (int, []byte) {
	e.t.Helper()
	response, err := e.client.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		e.t.Errorf("%s: the content type is %q", r.URL.Path, got)
	}
	return response.StatusCode, body
}

func (e httpEntry) post(path, body string) (int, []byte) {
	e.t.Helper()
	return e.do(e.request(http.MethodPost, path, body))
}

// ask sends a request that must succeed.
func ask[Response any](e httpEntry, path string, request any) (response Response) {
	e.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		e.t.Fatal(err)
	}
	status, answer := e.post(path, string(body))
	if status != http.StatusOK {
		e.t.Fatalf("%s: %d %s", path, status, answer)
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		e.t.Fatalf("%s: %v", path, err)
	}
	return response
}

// wantHTTP checks the status and the kind of a refusal.
func wantHTTP(t *testing.T, status int, answer []byte, wantStatus int, kind api.Kind) {
	t.Helper()
	var failure api.HTTPFailure
	if err := json.Unmarshal(answer, &failure); err != nil || status != wantStatus {
		t.Fatalf("got %d %s, want %d", status, answer, wantStatus)
	}
	if failure.Error.Number != kind || failure.Error.Kind != kind.String() || failure.Error.Message == "" {
		t.Fatalf("got %s, want %s with a sentence", answer, kind)
	}
}

// addToken admits a token with the given grants.
func addToken(t *testing.T, h *host.Host, token string, grants ...api.Grant) api.Token {
	t.Helper()
	sum := sha256.Sum256([]byte(token))
	request := api.CreateTokenRequest{Hash: hex.EncodeToString(sum[:]), Label: "test", Grants: grants}
	return ask[api.CreateTokenResponse](newHTTPEntry(t, h, h.State().Token), "/v1/create_token", request).Token
}

// sessionOf makes a session in a project of the host.
func sessionOf(t *testing.T, e httpEntry) string {
	t.Helper()
	projects := ask[api.ListProjectsResponse](e, "/v1/list_projects", api.Empty{}).Projects
	request := api.CreateSessionRequest{ProjectID: projects[0].ID, ClientKey: "session"}
	return ask[api.CreateSessionResponse](e, "/v1/create_session", request).Session.ID
}

// fieldsOf are the fields of each request, so that most of them do something. The
// others are answered with the same refusal on both ways.
func fieldsOf(projectID, sessionID, folder string) map[string]any {
	return map[string]any{
		"add_project":     api.AddProjectRequest{Path: folder},
		"remove_project":  api.RemoveProjectRequest{ProjectID: projectID},
		"list_dir":        api.ListDirRequest{Path: folder},
		"list_sessions":   api.ListSessionsRequest{ProjectID: projectID},
		"create_session":  api.CreateSessionRequest{ProjectID: projectID, ClientKey: "session"},
		"rename_session":  api.RenameSessionRequest{SessionID: sessionID, Name: strings.Repeat("x", api.MaxName+1)},
		"set_model":       api.SetModelRequest{SessionID: sessionID, Model: "none"},
		"resync_events":   api.ResyncEventsRequest{SessionID: sessionID},
		"get_entries":     api.GetEntriesRequest{SessionID: sessionID},
		"get_tree":        api.SessionRequest{SessionID: sessionID},
		"list_versions":   api.SessionRequest{SessionID: sessionID},
		"edit_queue":      api.EditQueueRequest{SessionID: sessionID, Expected: []string{}, Items: []api.QueueItem{}},
		"unsubscribe":     api.SessionRequest{SessionID: sessionID},
		"list_files":      api.ListFilesRequest{Place: api.Place{ProjectID: projectID}},
		"find_files":      api.FindFilesRequest{Place: api.Place{ProjectID: projectID}},
		"read_file":       api.ReadFileRequest{Place: api.Place{SessionID: sessionID}, Path: "none"},
		"git_status":      api.GitStatusRequest{Place: api.Place{SessionID: sessionID}},
		"git_diff":        api.GitDiffRequest{Place: api.Place{SessionID: sessionID}},
		"git_log":         api.GitLogRequest{Place: api.Place{SessionID: sessionID}},
		"git_branches":    api.GitBranchesRequest{Place: api.Place{SessionID: sessionID}},
		"git_commit":      api.GitCommitRequest{Place: api.Place{SessionID: sessionID}, ClientKey: "k", Message: "m", Paths: []string{"a"}},
		"get_changes":     api.GetChangesRequest{SessionID: sessionID},
		"revert_file":     api.RevertFileRequest{SessionID: sessionID, Path: "none"},
		"send_prompt":     api.SendPromptRequest{SessionID: sessionID, ClientKey: "k", Text: "hello"},
		"cancel_turn":     api.CancelTurnRequest{SessionID: sessionID, TurnID: "turn_none"},
		"answer_approval": api.AnswerApprovalRequest{SessionID: sessionID, ApprovalID: "apr_none", Decision: api.DecisionAllow},
		"name_host":       api.NameHostRequest{Label: "desk"},
		"create_token":    api.CreateTokenRequest{Hash: strings.Repeat("ab", 32), Label: "ci", Grants: []api.Grant{api.GrantView}},
		"set_grant":       api.SetGrantRequest{Grant: api.GrantManage},
		"revoke_token":    api.RevokeTokenRequest{TokenID: "tok_none"},
	}
}

// TestEveryRequestByHTTP walks the table: each request is answered by HTTP as it is
// over the WebSocket, only with a token, and only with the grant that it needs.
func TestEveryRequestByHTTP(t *testing.T) {
	folder := t.TempDir()
	h := start(t, host.Config{Projects: []string{folder}})
	full, direct := newHTTPEntry(t, h, h.State().Token), dial(t, h, nil)
	sessionID := sessionOf(t, full)
	ask[api.TurnAnswer](full, "/v1/send_prompt?wait=turn", api.SendPromptRequest{SessionID: sessionID, ClientKey: "k", Text: "hello"})
	projectID := ask[api.ListProjectsResponse](full, "/v1/list_projects", api.Empty{}).Projects[0].ID
	fields := fieldsOf(projectID, sessionID, folder)
	for _, spec := range api.Table() {
		t.Run(spec.Name, func(t *testing.T) {
			token := addToken(t, h, "without "+spec.Name, slices.DeleteFunc(api.AllGrants(), func(g api.Grant) bool { return g == spec.Grant })...)
			status, answer := newHTTPEntry(t, h, "without "+spec.Name).post("/v1/"+spec.Name, `{}`)
			wantHTTP(t, status, answer, http.StatusForbidden, api.KindNotAllowed)
			ask[api.Empty](full, "/v1/revoke_token", api.RevokeTokenRequest{TokenID: token.ID}) // their number is limited
			status, answer = newHTTPEntry(t, h, "").post("/v1/"+spec.Name, `{}`)
			wantHTTP(t, status, answer, http.StatusUnauthorized, api.KindNotAllowed)
			status, answer = full.do(full.request(http.MethodGet, "/v1/"+spec.Name, ""))
			wantHTTP(t, status, answer, http.StatusMethodNotAllowed, api.KindBadRequest)
			if spec.Name != "stop_host" { // it has a test of its own
				sameAnswer(t, full, direct, spec.Name, fields[spec.Name])
			}
		})
	}
}

// sameAnswer compares the ways to a host.
func sameAnswer(t *testing.T, e httpEntry, direct *client.Client, name string, request any) {
	t.Helper()
	if request == nil {
		request = api.Empty{}
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	want, err := direct.Raw(t.Context(), name, request)
	status, got := e.post("/v1/"+name, string(body))
	if err == nil {
		if status != http.StatusOK || !bytes.Equal(bytes.TrimSpace(got), want) {
			t.Errorf("%d %s\nby the WebSocket %s", status, got, want)
		}
		return
	}
	var failure api.HTTPFailure
	if json.Unmarshal(got, &failure) != nil || status < 400 || failure.Error.Message != err.Error() {
		t.Errorf("%d %s\nby the WebSocket %v", status, got, err)
	}
}

func TestBadHTTPRequests(t *testing.T) {
	h := start(t, host.Config{})
	full := newHTTPEntry(t, h, h.State().Token)
	tests := map[string]struct {
		path, body string
		change     func(*http.Request)
		status     int
		kind       api.Kind
	}{
		"no JSON":           {"/v1/add_project", `{"path":`, nil, 400, api.KindBadRequest},
		"two values":        {"/v1/add_project", `{}{}`, nil, 400, api.KindBadRequest},
		"an array":          {"/v1/add_project", `[]`, nil, 400, api.KindBadRequest},
		"null":              {"/v1/add_project", `null`, nil, 400, api.KindBadRequest},
		"wrong type":        {"/v1/add_project", `{"path":7}`, nil, 400, api.KindBadRequest},
		"another request":   {"/v1/add_project", `{"path":"/","type":"get_host","requestId":"9"}`, nil, 400, api.KindBadRequest},
		"too large":         {"/v1/add_project", strings.Repeat(" ", seal.MaxMessage+1), nil, 413, api.KindTooLarge},
		"no content type":   {"/v1/get_host", `{}`, func(r *http.Request) { r.Header.Del("Content-Type") }, 415, api.KindBadRequest},
		"a form":            {"/v1/get_host", `a=b`, func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, api.KindBadRequest},
		"unknown request":   {"/v1/from_the_future", `{}`, nil, 404, api.KindUnknownRequest},
		"unknown path":      {"/nowhere", `{}`, nil, 404, api.KindUnknownRequest},
		"a token in a URL":  {"/v1/get_host?token=x", `{}`, nil, 400, api.KindBadRequest},
		"waits for nothing": {"/v1/send_prompt?wait=ever", `{}`, nil, 400, api.KindBadRequest},
		"no such session":   {"/v1/send_prompt?wait=turn", `{"sessionId":"none","clientKey":"k","text":"x"}`, nil, 404, api.KindNotFound},
		"wrong token":       {"/v1/get_host", `{}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401, api.KindNotAllowed},
		"no scheme":         {"/v1/get_host", `{}`, func(r *http.Request) { r.Header.Set("Authorization", full.token) }, 401, api.KindNotAllowed},
		"a web page":        {"/v1/get_host", `{}`, func(r *http.Request) { r.Header.Set("Origin", full.base) }, 403, api.KindNotAllowed},
		"a preflight":       {"/v1/get_host", ``, func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://evil.example") }, 403, api.KindNotAllowed},
		"rebinding":         {"/v1/get_host", `{}`, func(r *http.Request) { r.Host = "evil.example" }, 403, api.KindNotAllowed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := full.request(http.MethodPost, test.path, test.body)
			if test.change != nil {
				test.change(r)
			}
			status, answer := full.do(r)
			wantHTTP(t, status, answer, test.status, test.kind)
		})
	}
	for _, path := range []string{"/v1/direct", "/v1/openapi.json", "/v1/sessions/x/events"} {
		status, answer := full.post(path, "{}")
		wantHTTP(t, status, answer, http.StatusMethodNotAllowed, api.KindBadRequest)
	}
	for token, want := range map[string]string{"": "a token is required", "x": "unknown token: it was revoked"} {
		response, err := full.client.Do(httpEntry{t, full.base, token, full.client}.request(http.MethodPost, "/v1/get_host", "{}"))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		challenge := response.Header.Get("WWW-Authenticate")
		if !strings.Contains(string(body), want) || strings.Contains(challenge, "invalid_token") != (token != "") || !strings.HasPrefix(challenge, "Bearer") {
			t.Errorf("with the token %q: %q, %s", token, challenge, body)
		}
	}
	if status, answer := full.post("/v1/list_projects", ""); status != http.StatusOK {
		t.Errorf("a request without a body: %d %s", status, answer)
	}
}

func TestTokensByHTTP(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	full := newHTTPEntry(t, h, h.State().Token)
	token := addToken(t, h, "secret", api.GrantView, api.GrantPrompt)
	if again := addToken(t, h, "secret", api.GrantView, api.GrantPrompt); !reflect.DeepEqual(again, token) {
		t.Errorf("the same token twice: %+v, %+v", token, again)
	}
	sum := sha256.Sum256([]byte("secret"))
	hash := hex.EncodeToString(sum[:])
	for name, request := range map[string]api.CreateTokenRequest{
		"other grants": {Hash: hash, Label: "test", Grants: []api.Grant{api.GrantManage}},
		"local":        {Hash: strings.Repeat("0", 64), Label: "x", Grants: []api.Grant{api.GrantLocal}},
		"rules":        {Hash: strings.Repeat("0", 64), Label: "x", Grants: []api.Grant{api.GrantRules}},
		"twice":        {Hash: strings.Repeat("0", 64), Label: "x", Grants: []api.Grant{api.GrantView, api.GrantView}},
		"none":         {Hash: strings.Repeat("0", 64), Label: "x"},
		"short hash":   {Hash: "00", Label: "x", Grants: []api.Grant{api.GrantView}},
		"label":        {Hash: strings.Repeat("0", 64), Label: "\n", Grants: []api.Grant{api.GrantView}},
		"other end":    {Hash: hash, Label: "test", Grants: token.Grants, ExpiresAt: time.Now().Add(time.Hour).UnixMilli()},
		"passed":       {Hash: strings.Repeat("0", 64), Label: "x", Grants: token.Grants, ExpiresAt: time.Now().Add(-time.Hour).UnixMilli()},
		"before 1970":  {Hash: strings.Repeat("0", 64), Label: "x", Grants: token.Grants, ExpiresAt: -1},
		"seconds":      {Hash: strings.Repeat("0", 64), Label: "x", Grants: token.Grants, ExpiresAt: time.Now().Unix()},
		"microseconds": {Hash: strings.Repeat("0", 64), Label: "x", Grants: token.Grants, ExpiresAt: time.Now().Add(time.Hour).UnixMicro()},
	} {
		body, _ := json.Marshal(request)
		if status, answer := full.post("/v1/create_token", string(body)); status != 400 && status != 409 {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	few := newHTTPEntry(t, h, "secret")
	if grants := ask[api.GetHostResponse](few, "/v1/get_host", api.Empty{}).Host.Grants; !slices.Equal(grants, token.Grants) {
		t.Errorf("it has the grants %v", grants)
	}
	sessionID := sessionOf(t, few)
	stream := follow(t, few, sessionID, "")
	stream.next(t)
	transport, err := client.DialDirect(t.Context(), h.State().Addr, "secret")
	if err != nil {
		t.Fatal(err)
	}
	direct := client.New(transport, nil)
	defer func() { _ = direct.Close() }()
	ask[api.Empty](full, "/v1/revoke_token", api.RevokeTokenRequest{TokenID: token.ID})
	stream.wantEnd(t)
	<-direct.Done()
	status, answer := few.post("/v1/get_host", `{}`)
	wantHTTP(t, status, answer, http.StatusUnauthorized, api.KindNotAllowed)
}

// run runs a host that the test ends by itself; ended tells how it did.
func run(t *testing.T, cfg host.Config) (h *host.Host, ended chan error) {
	t.Helper()
	cfg.Getenv, cfg.NoRelay = noEnv, true
	h, err := host.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- h.Run(t.Context()) }()
	<-h.Ready()
	return h, ended
}

// TestStopHostByHTTP: the answer still gets out.
func TestStopHostByHTTP(t *testing.T) {
	h, ended := run(t, host.Config{Home: t.TempDir()})
	ask[api.Empty](newHTTPEntry(t, h, h.State().Token), "/v1/stop_host", api.Empty{})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "nonsense"} {
		h, err := host.New(t.Context(), host.Config{Home: t.TempDir(), Getenv: noEnv, NoRelay: true, Listen: addr})
		if err == nil {
			_ = h.Close()
			t.Errorf("a host listens on %q", addr)
		}
	}
	h := start(t, host.Config{Listen: "localhost:0"})
	ask[api.GetHostResponse](newHTTPEntry(t, h, h.State().Token), "/v1/get_host", api.Empty{})
}
