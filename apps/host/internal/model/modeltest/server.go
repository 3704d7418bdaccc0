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

// Fault is how one HTTP request goes wrong before a step is played.
type Fault struct {
	Status     int    // refuse with this status
	Text       string // and this sentence
	RetryAfter string // header of that name; "" for none
	Drop       bool   // send half of the answer, then cut the connection
	Stall      bool   // send half of the answer, then nothing until the client leaves
}

// Server is a provider on a socket that plays steps. It speaks the wire of each
// provider at the paths of that provider, and refuses what they refuse: with the
// status and in the form that they use. A step is used up by the request that it
// answers, its faults by the requests before that one.
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

// Serve starts a server, which Close ends.
func Serve(steps ...Step) *Server {
	s := &Server{steps: slices.Clone(steps)}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every connection to it.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Demand makes the server ask for a key, and, where models are named, for one of them.
func (s *Server) Demand(key string, models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.models = key, models
}

// Refusals says why requests were refused as malformed.
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

// wire is how one provider speaks.
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
	_ = json.Unmarshal(body, &named) // a body that is no JSON is refused by the check
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
		_ = json.NewEncoder(w).Encode(speak.fail(status, text)) // a client that left is seen at its side
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

// next decides what happens to a request.
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

// half returns how many bytes are half of the content.
func half(content session.Content) int {
	total := 0
	for _, block := range content {
		total += len(block.Text) + len(block.Thinking) + len(block.Arguments)
	}
	return max(1, total/2)
}

// stream writes events until a limit of content bytes is passed.
type stream struct {
	w     http.ResponseWriter
	r     *http.Request
	piece int
	limit int // 0 is none
	stall bool
	sent  int
}

// event writes one event; named is false where the wire names none.
func (o *stream) event(kind string, data any) {
	encoded, err := json.Marshal(data)
	if err != nil {
		panic(err) // a test's own step
	}
	if kind != "" {
		fmt.Fprintf(o.w, "event: %s\n", kind)
	}
	fmt.Fprintf(o.w, "data: %s\n\n", encoded)
	_ = http.NewResponseController(o.w).Flush() // a client that left is seen at its side
}

// pieces hands out text bit by bit, and goes wrong where the fault says so.
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

// Signature is what this server's models sign thinking with; another model's is refused.
func Signature(model string) string { return "signed-by-" + model }

// arguments returns the text of a call's arguments, cut where the step stops by length.
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

// object is JSON to be written.
type object = map[string]any
