package trace

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"
)

// These types are the part of OTLP/JSON that is sent: ids are in hex, and numbers of 64 bits are
// texts.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID      string      `json:"traceId"`
		SpanID       string      `json:"spanId"`
		ParentSpanID string      `json:"parentSpanId,omitempty"`
		Name         string      `json:"name"`
		Kind         int         `json:"kind"`
		Start        string      `json:"startTimeUnixNano"`
		End          string      `json:"endTimeUnixNano"`
		Attributes   []attribute `json:"attributes,omitempty"`
		Status       *status     `json:"status,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String string `json:"stringValue,omitempty"`
		Int    string `json:"intValue,omitempty"`
	}
	status struct {
		Code int `json:"code"`
	}
)

const (
	kindInternal = 1
	statusError  = 2
)

func (s *Span) encode(ended time.Time, failed bool) span {
	out := span{
		TraceID: hex.EncodeToString(s.self.trace[:]), SpanID: hex.EncodeToString(s.self.span[:]), Name: s.name, Kind: kindInternal,
		Start: strconv.FormatInt(s.began.UnixNano(), 10), End: strconv.FormatInt(s.began.Add(ended.Sub(s.began)).UnixNano(), 10),
	}
	if s.parent != [8]byte{} {
		out.ParentSpanID = hex.EncodeToString(s.parent[:])
	}
	for _, key := range slices.Sorted(maps.Keys(s.words)) {
		out.Attributes = append(out.Attributes, attribute{key, value{String: s.words[key]}})
	}
	for _, key := range slices.Sorted(maps.Keys(s.numbers)) {
		out.Attributes = append(out.Attributes, attribute{key, value{Int: strconv.FormatInt(s.numbers[key], 10)}})
	}
	if failed {
		out.Status = &status{statusError}
	}
	return out
}

func (t *Tracer) request(spans []span) request {
	about := []attribute{{"service.name", value{String: t.options.Service}}}
	if t.options.Version != "" {
		about = append(about, attribute{"service.version", value{String: t.options.Version}})
	}
	return request{[]resourceSpans{{resource{about}, []scopeSpans{{scope{"scorel", t.options.Version}, spans}}}}}
}
