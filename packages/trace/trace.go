// Package trace records how long the steps of a prompt take, and sends them as spans to an
// OpenTelemetry collector: OTLP, as JSON over HTTP. A span has a name, numbers, and words that scorel
// chose, never a text, a path, a name or an id of a person or a session.
//
// Spans are lost rather than waited for: a full queue or a collector that does not answer costs
// spans, and nothing else.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

// Parent is the span that another one belongs to, as W3C Trace Context names it. The zero value is
// none.
type Parent struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// MaxTraceparent bounds the text of a Parent.
const MaxTraceparent = 128

// ParseTraceparent reads the header traceparent of W3C Trace Context; false if it names no span. Of
// later versions it reads the part that it knows.
func ParseTraceparent(text string) (p Parent, ok bool) {
	parts := strings.Split(text, "-")
	if len(text) > MaxTraceparent || len(parts) < 4 || parts[0] == "00" && len(parts) != 4 || parts[0] == "ff" || strings.ToLower(text) != text {
		return Parent{}, false
	}
	var version, flags [1]byte
	for _, field := range []struct {
		text string
		into []byte
	}{{parts[0], version[:]}, {parts[1], p.trace[:]}, {parts[2], p.span[:]}, {parts[3], flags[:]}} {
		if len(field.text) != 2*len(field.into) {
			return Parent{}, false
		}
		if _, err := hex.Decode(field.into, []byte(field.text)); err != nil {
			return Parent{}, false
		}
	}
	if p.trace == [16]byte{} || p.span == [8]byte{} {
		return Parent{}, false
	}
	p.sampled = flags[0]&1 == 1
	return p, true
}

// String returns the value of the header traceparent, or "" for no parent.
func (p Parent) String() string {
	if p == (Parent{}) {
		return ""
	}
	flags := "-00"
	if p.sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(p.trace[:]) + "-" + hex.EncodeToString(p.span[:]) + flags
}

// Span is a step that has begun. All methods may be called on nil, and by several goroutines.
type Span struct {
	tracer *Tracer
	self   Parent
	parent [8]byte // zero for the first span of a trace
	name   string
	began  time.Time

	mu      sync.Mutex
	numbers map[string]int64
	words   map[string]string
	ended   bool
}

// Start begins a span. It is nil if t is nil, or if the parent is not sampled.
func (t *Tracer) Start(parent Parent, name string) *Span {
	return t.StartAt(parent, name, time.Now())
}

// StartAt is Start for a span that began before.
func (t *Tracer) StartAt(parent Parent, name string, began time.Time) *Span {
	if t == nil || parent != (Parent{}) && !parent.sampled {
		return nil
	}
	s := &Span{tracer: t, self: Parent{trace: parent.trace, sampled: true}, parent: parent.span, name: name, began: began}
	_, _ = rand.Read(s.self.span[:]) // it never fails
	if parent == (Parent{}) {
		_, _ = rand.Read(s.self.trace[:])
	}
	return s
}

// Self returns what the spans below this one have as their parent.
func (s *Span) Self() Parent {
	if s == nil {
		return Parent{}
	}
	return s.self
}

// Number sets an attribute of the span.
func (s *Span) Number(key string, value int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers == nil {
		s.numbers = map[string]int64{}
	}
	s.numbers[key] = value
}

// Word sets an attribute of the span to a word that scorel chose.
func (s *Span) Word(key, value string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words = map[string]string{}
	}
	s.words[key] = value
}

// End ends the span. Only the first call counts.
func (s *Span) End(failed bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.tracer.add(s.encode(time.Now(), failed))
}

type parentKey struct{}

// With returns a context whose spans belong to a parent.
func With(ctx context.Context, parent Parent) context.Context {
	return context.WithValue(ctx, parentKey{}, parent)
}

// From returns the parent of a context's spans.
func From(ctx context.Context) Parent {
	parent, _ := ctx.Value(parentKey{}).(Parent)
	return parent
}
