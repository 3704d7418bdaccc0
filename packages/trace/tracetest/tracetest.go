// Package tracetest is a collector that takes OTLP in JSON as strictly as the specification allows.
package tracetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Span is a span that was received.
type Span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Service                             string
	Attributes                          map[string]string
	Failed                              bool
	Lasted                              time.Duration
}

// Collector collects spans.
type Collector struct {
	server *httptest.Server

	mu      sync.Mutex
	spans   []Span
	bodies  [][]byte
	faults  []string
	changed chan struct{} // closed and replaced after every request
}

// Start starts a collector. The caller closes it.
func Start() *Collector {
	c := &Collector{changed: make(chan struct{})}
	c.server = httptest.NewServer(c)
	return c
}

// URL is where spans are to be sent.
func (c *Collector) URL() string { return c.server.URL + "/v1/traces" }

// Close ends the collector.
func (c *Collector) Close() { c.server.Close() }

// Spans returns the spans so far, and a channel that is closed when there may be more.
func (c *Collector) Spans() ([]Span, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans), c.changed
}

// Faults returns what was wrong with requests.
func (c *Collector) Faults() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.faults)
}

// Received returns all that was sent.
func (c *Collector) Received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Join(c.bodies, []byte("\n"))
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	var spans []Span
	switch {
	case err != nil:
	case r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json":
		err = fmt.Errorf("%s %s with %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	default:
		spans, err = parse(body)
	}
	c.mu.Lock()
	c.spans, c.bodies = append(c.spans, spans...), append(c.bodies, body)
	if err != nil {
		c.faults = append(c.faults, err.Error())
	}
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

type attributes []struct {
	Key   string `json:"key"`
	Value struct {
		StringValue *string `json:"stringValue"`
		IntValue    *string `json:"intValue"` // a number of 64 bits is a text
	} `json:"value"`
}

func (a attributes) read() (map[string]string, error) {
	out := map[string]string{}
	for _, one := range a {
		text, number := one.Value.StringValue, one.Value.IntValue
		if _, twice := out[one.Key]; one.Key == "" || twice || (text == nil) == (number == nil) {
			return nil, fmt.Errorf("the attribute %q is wrong", one.Key)
		}
		if number != nil {
			if _, err := strconv.ParseInt(*number, 10, 64); err != nil {
				return nil, err
			}
			text = number
		}
		out[one.Key] = *text
	}
	return out, nil
}

var (
	traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)
	spanID  = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

type received struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes attributes `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Scope struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"scope"`
			Spans []one `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type one struct {
	TraceID           string     `json:"traceId"`
	SpanID            string     `json:"spanId"`
	ParentSpanID      string     `json:"parentSpanId"`
	Name              string     `json:"name"`
	Kind              int        `json:"kind"`
	StartTimeUnixNano string     `json:"startTimeUnixNano"`
	EndTimeUnixNano   string     `json:"endTimeUnixNano"`
	Attributes        attributes `json:"attributes"`
	Status            struct {
		Code int `json:"code"`
	} `json:"status"`
}

func parse(body []byte) (spans []Span, err error) {
	var all received
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	for _, r := range all.ResourceSpans {
		about, err := r.Resource.Attributes.read()
		if err != nil || about["service.name"] == "" {
			return nil, fmt.Errorf("the resource is %v, %v", about, err)
		}
		for _, s := range r.ScopeSpans {
			for _, one := range s.Spans {
				span, err := one.read(about["service.name"])
				if err != nil {
					return nil, err
				}
				spans = append(spans, span)
			}
		}
	}
	return spans, nil
}

func (o one) read(service string) (Span, error) {
	began, beganErr := strconv.ParseUint(o.StartTimeUnixNano, 10, 64)
	ended, endedErr := strconv.ParseUint(o.EndTimeUnixNano, 10, 64)
	known, err := o.Attributes.read()
	switch {
	case err != nil:
		return Span{}, err
	case beganErr != nil || endedErr != nil || ended < began || began == 0:
		return Span{}, fmt.Errorf("the span %s begins at %q and ends at %q", o.Name, o.StartTimeUnixNano, o.EndTimeUnixNano)
	case !traceID.MatchString(o.TraceID) || !spanID.MatchString(o.SpanID) || o.ParentSpanID != "" && !spanID.MatchString(o.ParentSpanID):
		return Span{}, fmt.Errorf("the ids of %s are %q, %q, %q", o.Name, o.TraceID, o.SpanID, o.ParentSpanID)
	case o.Name == "" || o.Kind < 1 || o.Kind > 5 || o.Status.Code < 0 || o.Status.Code > 2:
		return Span{}, fmt.Errorf("the span %q has kind %d and status %d", o.Name, o.Kind, o.Status.Code)
	}
	return Span{
		TraceID: o.TraceID, SpanID: o.SpanID, ParentSpanID: o.ParentSpanID, Name: o.Name, Service: service,
		Attributes: known, Failed: o.Status.Code == 2, Lasted: time.Duration(ended - began),
	}, nil
}
