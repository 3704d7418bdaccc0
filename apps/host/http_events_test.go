package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// sse is one server-sent event.
type sse struct{ event, id, data string }

// sseReader reads a stream of events.
type sseReader struct {
	body    io.ReadCloser
	scanner *bufio.Scanner
}

func follow(t *testing.T, e httpEntry, sessionID, lastID string) *sseReader {
	t.Helper()
	r := e.request(http.MethodGet, "/v1/sessions/"+sessionID+"/events", "")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	response, err := e.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("the stream is answered %d, %s", response.StatusCode, got)
	}
	scanner := bufio.NewScanner(response.Body)
	scanner.Buffer(nil, 64<<20)
	return &sseReader{response.Body, scanner}
}

// read returns the next whole event; false at the end.
func (s *sseReader) read() (out sse, ok bool) {
	for s.scanner.Scan() {
		name, value, _ := strings.Cut(s.scanner.Text(), ": ")
		switch name {
		case "event":
			out.event = value
		case "id":
			out.id = value
		case "data":
			out.data = value
		case "":
			if out.data != "" {
				return out, true
			}
		}
	}
	return sse{}, false
}

func (s *sseReader) next(t *testing.T) sse {
	t.Helper()
	event, ok := s.read()
	if !ok {
		t.Fatalf("the stream ended: %v", s.scanner.Err())
	}
	return event
}

func (s *sseReader) wantEnd(t *testing.T) {
	t.Helper()
	for {
		if _, ok := s.read(); !ok {
			return
		}
	}
}

// projection is what an entry has made of a stream of events.
type projection struct {
	entries []session.Entry
	live    api.Live
	summary api.SessionSummary
	lastID  string
	seq     uint64 // of the last event: none is missed, and none comes twice
	modes   []api.ResyncMode
}

func (p *projection) apply(t *testing.T, event sse) {
	t.Helper()
	if event.id != "" {
		p.lastID = event.id
	}
	if event.event == "resync" {
		p.resync(t, event.data)
		return
	}
	var envelope api.EventEnvelope
	if err := json.Unmarshal([]byte(event.data), &envelope); err != nil || envelope.Event.EventType() != event.event {
		t.Fatalf("%+v: %v", event, err)
	}
	p.event(t, envelope)
}

func (p *projection) event(t *testing.T, envelope api.EventEnvelope) {
	t.Helper()
	if envelope.Seq > 0 {
		if envelope.Seq != p.seq+1 {
			t.Errorf("after event %d came %d", p.seq, envelope.Seq)
		}
		p.seq = envelope.Seq
	}
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		p.entries = append(p.entries, e.Entry)
	case api.SessionUpdated:
		p.summary = e.Session
	}
	p.live.Apply(envelope.Event)
}

func (p *projection) resync(t *testing.T, data string) {
	t.Helper()
	var response api.ResyncEventsResponse
	if err := json.Unmarshal([]byte(data), &response); err != nil {
		t.Fatal(err)
	}
	p.modes = append(p.modes, response.Mode)
	switch response.Mode {
	case api.ResyncFull:
		p.entries = response.Entries
	case api.ResyncPersistent:
		p.entries = append(p.entries, response.Entries...)
	case api.ResyncStream:
		for _, envelope := range response.Events {
			p.event(t, envelope)
		}
	}
	if response.Mode == api.ResyncStream && p.seq != response.Anchors.StreamLastSeq {
		t.Errorf("it resumed up to event %d, and says %d", p.seq, response.Anchors.StreamLastSeq)
	}
	p.live, p.summary, p.seq = response.Live, response.Session, response.Anchors.StreamLastSeq
}

func (p *projection) want(t *testing.T, fresh projection) {
	t.Helper()
	if !reflect.DeepEqual(p.entries, fresh.entries) || !reflect.DeepEqual(p.live, fresh.live) || !reflect.DeepEqual(p.summary, fresh.summary) {
		t.Errorf("after %v it shows %d entries, %+v, %+v\na fresh load %d entries, %+v, %+v",
			p.modes, len(p.entries), p.live, p.summary, len(fresh.entries), fresh.live, fresh.summary)
	}
}

func freshLoad(t *testing.T, e httpEntry, sessionID string) (p projection) {
	t.Helper()
	stream := follow(t, e, sessionID, "")
	p.apply(t, stream.next(t))
	_ = stream.body.Close()
	return p
}

func prompt(sessionID, key, text string) api.SendPromptRequest {
	return api.SendPromptRequest{SessionID: sessionID, ClientKey: key, Text: text}
}

// TestEventsAfterACutEqualAFreshLoad cuts the stream of a turn after every event
// and resumes with the id of the last one.
func TestEventsAfterACutEqualAFreshLoad(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	steady, cut := projection{}, projection{}
	stream := follow(t, e, sessionID, "")
	steady.apply(t, stream.next(t))
	ask[api.SendPromptResponse](e, "/v1/send_prompt", prompt(sessionID, "k", "stream 20"))
	over := func() bool { return cut.live.Turn == nil && len(cut.entries) > 2 } // what the model chose, the prompt, the answer
	for !over() {
		short := follow(t, e, sessionID, cut.lastID)
		if cut.apply(t, short.next(t)); !over() {
			cut.apply(t, short.next(t))
		}
		_ = short.body.Close()
	}
	for steady.live.Turn != nil || steady.summary.Running || len(steady.entries) < len(cut.entries) {
		steady.apply(t, stream.next(t))
	}
	last := follow(t, e, sessionID, cut.lastID)
	cut.apply(t, last.next(t))
	fresh := freshLoad(t, e, sessionID)
	steady.want(t, fresh)
	cut.want(t, fresh)
	if !slices.Contains(cut.modes, api.ResyncStream) || len(cut.modes) < 5 {
		t.Errorf("the cuts led to %v: the test does not cover them", cut.modes)
	}
}

// TestEventsAfterARestartEqualAFreshLoad resumes with an id of the host before.
func TestEventsAfterARestartEqualAFreshLoad(t *testing.T) {
	home := t.TempDir()
	h, ended := run(t, host.Config{Home: home, Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	stream, p := follow(t, e, sessionID, ""), projection{}
	p.apply(t, stream.next(t))
	ask[api.SendPromptResponse](e, "/v1/send_prompt", prompt(sessionID, "k", "stream 3"))
	for event := (sse{}); event.event != "turn_ended"; {
		event = stream.next(t)
		p.apply(t, event)
	}
	ask[api.Empty](e, "/v1/stop_host", api.Empty{})
	stream.wantEnd(t)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	h = start(t, host.Config{Home: home})
	e = newHTTPEntry(t, h, h.State().Token)
	ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "k2", "stream 4"))
	again := follow(t, e, sessionID, p.lastID)
	p.apply(t, again.next(t))
	p.want(t, freshLoad(t, e, sessionID))
	if last := p.modes[len(p.modes)-1]; last != api.ResyncPersistent {
		t.Errorf("it was brought up to date by %s", last)
	}
}

// TestAStreamIsOfOneSession: what happens elsewhere on the host is not in it.
func TestAStreamIsOfOneSession(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	stream := follow(t, e, sessionID, "")
	stream.next(t)
	h.Tell(api.SessionUpdated{Session: api.SessionSummary{ID: "other"}})
	h.Tell(api.ClientsChanged{})
	h.Tell(api.ProjectsChanged{Projects: []api.Project{}})
	h.Tell(api.SessionUpdated{Session: api.SessionSummary{ID: sessionID, Name: "mine"}})
	if event := stream.next(t); event.event != "session_updated" || !strings.Contains(event.data, `"mine"`) || event.id != "" {
		t.Errorf("got %+v", event)
	}
}

// TestASlowReaderIsClosedAndResumes lets more wait than a connection may hold.
func TestASlowReaderIsClosedAndResumes(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	slow := follow(t, e, sessionID, "")
	p := projection{}
	p.apply(t, slow.next(t))
	const floods = 600 // of 64 KiB: more than the connection, the kernel and the reader hold
	for range floods {
		if !h.Online() {
			break
		}
		h.Tell(api.SessionUpdated{Session: api.SessionSummary{ID: sessionID, Name: strings.Repeat("x", 64<<10)}})
	}
	ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "k", "stream 3"))
	heard := 0
	for event, ok := slow.read(); ok; event, ok = slow.read() {
		heard++
		p.apply(t, event)
	}
	fresh := freshLoad(t, e, sessionID)
	if heard >= floods || len(p.entries) >= len(fresh.entries) {
		t.Fatalf("the reader was not closed: it received %d events", heard)
	}
	again := follow(t, e, sessionID, p.lastID)
	p.apply(t, again.next(t))
	p.want(t, fresh)
}

// TestTwoWritersByHTTP: each prompt is accepted once, regardless of its sender and of repeats,
// and both readers hear the same.
func TestTwoWritersByHTTP(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	const prompts = 6
	readers := []*sseReader{follow(t, e, sessionID, ""), follow(t, e, sessionID, "")}
	var writers [2]<-chan []api.TurnAnswer
	for i := range writers {
		writers[i] = background(func() (answers []api.TurnAnswer) {
			for n := range prompts {
				request := prompt(sessionID, fmt.Sprint("k", n), fmt.Sprint("stream ", n+1))
				answers = append(answers, ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", request))
			}
			return answers
		})
	}
	one, two := <-writers[0], <-writers[1]
	byEntry := map[string]bool{}
	for _, answer := range one {
		byEntry[answer.EntryID] = true
	}
	if !reflect.DeepEqual(one, two) || len(byEntry) != prompts {
		t.Fatalf("the writers were answered %+v and %+v", one, two)
	}
	var heard [2][]sse
	for i, reader := range readers {
		reader.next(t) // how it caught up may differ
		for ends := 0; ends < prompts; {
			event := reader.next(t)
			heard[i] = append(heard[i], event)
			if event.event == "turn_ended" {
				ends++
			}
		}
	}
	if !reflect.DeepEqual(heard[0], heard[1]) {
		t.Errorf("the readers received %d and %d events, which differ", len(heard[0]), len(heard[1]))
	}
}

func TestBadStreams(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	full := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, full)
	addToken(t, h, "blind", api.GrantPrompt)
	get := func(e httpEntry, id, last string) (int, []byte) {
		r := e.request(http.MethodGet, "/v1/sessions/"+id+"/events", "")
		r.Header.Set("Last-Event-ID", last)
		return e.do(r)
	}
	status, answer := get(full, "none", "")
	wantHTTP(t, status, answer, http.StatusNotFound, api.KindNotFound)
	for _, last := range []string{"x", "a.b.c", "a.1", "a.1.-1", "a.1.2.3", "a.99999999999999999999.1"} {
		status, answer = get(full, sessionID, last)
		wantHTTP(t, status, answer, http.StatusBadRequest, api.KindBadRequest)
	}
	status, answer = get(newHTTPEntry(t, h, "blind"), sessionID, "")
	wantHTTP(t, status, answer, http.StatusForbidden, api.KindNotAllowed)
	status, answer = get(newHTTPEntry(t, h, ""), sessionID, "")
	wantHTTP(t, status, answer, http.StatusUnauthorized, api.KindNotAllowed)
	// An id of another opening of the session is not wrong: it gets what it missed.
	stream := follow(t, full, sessionID, "0123456789abcdef.0.0")
	p := projection{}
	p.apply(t, stream.next(t))
	p.want(t, freshLoad(t, full, sessionID))
}
