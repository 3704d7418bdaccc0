package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Fault is a failure of one HTTP request before a step is played.
type Fault struct {
	Status     int    // respond with this status
	Text       string // and this message
	RetryAfter string // value of that header; "" for none
	Drop       bool   // send half of the response, then cut the connection
	Stall      bool   // send half of the response, then nothing until the client leaves
}

// Server is an HTTP server that plays steps. It implements the protocol of each provider at
// that provider's paths, and rejects what they reject, with their status codes and error
// formats. A step is used up by the request that it answers, its faults by the requests
// before that.
type Server struct {
	URL string // without a path: OpenAI's clients add /v1, Gemini's /v1beta

	http *httptest.Server

	mu       sync.Mutex
	key      string
	models   []string
	steps    []Step
	refusals []string
	bodies   [][]byte
}

// Serve starts a server; Close stops it.
func Serve(steps ...Step) *Server {
	s := &Server{steps: slices.Clone(steps)}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close stops the server and closes every connection.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Demand makes the server require a key and, if models are given, one of these models.
func (s *Server) Demand(key string, models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.models = key, models
}

// Refusals returns why requests were rejected as malformed.
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refusals...)
}

// Bodies returns the bodies of all requests so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

// wire is the protocol of one provider.
type wire struct {
	key   func(*http.Request) string
	model func(*http.Request, []byte) string
	check func(model string, body []byte) error
	fail  func(status int, text string) any
	play  func(out *stream, model string, step Step)
}

func wireOf(path string) (wire, bool) {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return wire{bearer, bodyModel, checkChat, failOpenAI, playChat}, true
	case strings.HasSuffix(path, "/responses"):
		return wire{bearer, bodyModel, checkResponses, failOpenAI, playResponses}, true
	case strings.HasSuffix(path, "/v1/messages"):
		return wire{header("X-Api-Key"), bodyModel, checkAnthropic, failAnthropic, playAnthropic}, true
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return wire{header("X-Goog-Api-Key"), pathModel, checkGoogle, failGoogle, playGoogle}, true
	}
	return wire{}, false
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func header(name string) func(*http.Request) string {
	return func(r *http.Request) string { return r.Header.Get(name) }
}

func bodyModel(_ *http.Request, body []byte) string {
	var named struct{ Model string }
	_ = json.Unmarshal(body, &named) // the check rejects a body that is not JSON
	return named.Model
}

func pathModel(r *http.Request, _ []byte) string {
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	return strings.TrimSuffix(name, ":streamGenerateContent")
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	speak, ok := wireOf(r.URL.Path)
	if !ok {
		http.Error(w, "no such path", http.StatusNotFound)
		return
	}
	model := speak.model(r, body)
	step, fault, status, text := s.next(r, speak, model, body)
	if status != 0 {
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(speak.fail(status, text)) // the client notices if this fails
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w: w, r: r, piece: step.Piece}
	if fault.Drop || fault.Stall {
		out.limit = half(step.Content)
		out.stall = fault.Stall
	}
	if out.piece <= 0 {
		out.piece = 4
	}
	speak.play(out, model, step)
	if step.Stall {
		<-r.Context().Done()
	}
}

// next decides how a request is answered.
func (s *Server) next(r *http.Request, speak wire, model string, body []byte) (step Step, fault Fault, status int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	if s.key != "" && speak.key(r) != s.key {
		return step, fault, http.StatusUnauthorized, "the key is not valid"
	}
	if len(s.models) > 0 && !slices.Contains(s.models, model) {
		return step, fault, http.StatusNotFound, fmt.Sprintf("the model %q does not exist", model)
	}
	if err := speak.check(model, body); err != nil {
		s.refusals = append(s.refusals, err.Error())
		return step, fault, http.StatusBadRequest, err.Error()
	}
	if len(s.steps) == 0 {
		return step, fault, http.StatusTeapot, "modeltest: there is no step left"
	}
	step = s.steps[0]
	if len(step.Faults) > 0 {
		fault = step.Faults[0]
		s.steps[0].Faults = step.Faults[1:]
		return step, fault, fault.Status, cmp.Or(fault.Text, "a fault of the script")
	}
	s.steps = s.steps[1:]
	return step, fault, 0, ""
}

// half returns half the size of the content, in bytes.
func half(content session.Content) int {
	total := 0
	for _, block := range content {
		total += len(block.Text) + len(block.Thinking) + len(block.Arguments)
	}
	return max(1, total/2)
}

// stream writes events until a limit of content bytes is exceeded.
type stream struct {
	w     http.ResponseWriter
	r     *http.Request
	piece int
	limit int // 0 means none
	stall bool
	sent  int
}

// event writes one event; named is false if the protocol does not name events.
func (o *stream) event(kind string, data any) {
	encoded, err := json.Marshal(data)
	if err != nil {
		panic(err) // an invalid step of the test
	}
	if kind != "" {
		fmt.Fprintf(o.w, "event: %s\n", kind)
	}
	fmt.Fprintf(o.w, "data: %s\n\n", encoded)
	_ = http.NewResponseController(o.w).Flush() // the client notices if this fails
}

// pieces splits text into pieces, and fails where the fault says so.
func (o *stream) pieces(text string, emit func(string)) {
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(o.piece, len(runes))
		o.count(n)
		emit(string(runes[:n]))
		runes = runes[n:]
	}
}

func (o *stream) count(n int) {
	o.sent += n
	if o.limit == 0 || o.sent < o.limit {
		return
	}
	if o.stall {
		<-o.r.Context().Done()
	}
	panic(http.ErrAbortHandler) // cuts the connection
}

// Signature returns the signature that this server's models put on thinking; another
// model's is rejected.
func Signature(model string) string { return "signed-by-" + model }

// arguments returns the text of a call's arguments, truncated if the step stops by length.
func arguments(step Step, i int) string {
	text := string(step.Content[i].Arguments)
	if step.Stop == session.StopLength && i == len(step.Content)-1 {
		return text[:len(text)/2]
	}
	return text
}

func stopOf(step Step) session.StopReason {
	switch {
	case step.Stop != "":
		return step.Stop
	case len(step.Content.ToolCalls()) > 0:
		return session.StopToolUse
	}
	return session.StopEnd
}

// object is a JSON object to encode.
type object = map[string]any
