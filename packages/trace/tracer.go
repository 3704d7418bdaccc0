package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// Limits of what waits to be sent.
const (
	maxWaiting   = 2048
	maxBatch     = 512
	sendEvery    = 2 * time.Second
	sendTimeout  = 10 * time.Second
	flushTimeout = 2 * time.Second // at the end
)

// Options of a Tracer. URL and Service are required.
type Options struct {
	URL     string // to which spans are sent, such as http://127.0.0.1:4318/v1/traces
	Service string // name of the program's part
	Version string
	Logger  *slog.Logger // nil is silent
}

// Tracer sends spans to a collector. A nil Tracer records nothing.
type Tracer struct {
	options Options
	http    *http.Client
	waiting chan span
	lost    atomic.Int64
}

// New makes a tracer, which sends while Run runs.
func New(options Options) (*Tracer, error) {
	if err := CheckURL(options.URL); err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Tracer{
		options: options, waiting: make(chan span, maxWaiting),
		http: &http.Client{Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// CheckURL reports why spans cannot be sent to a URL.
func CheckURL(text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil {
		return errors.New("the address for traces must be that of a collector, such as http://127.0.0.1:4318/v1/traces, without a name or password")
	}
	return nil
}

// add queues a span, or counts it as lost.
func (t *Tracer) add(s span) {
	select {
	case t.waiting <- s:
	default:
		t.lost.Add(1)
	}
}

// Lost returns how many spans were not sent.
func (t *Tracer) Lost() int64 { return t.lost.Load() }

// Run sends spans until ctx ends, and then those that wait.
func (t *Tracer) Run(ctx context.Context) {
	defer t.http.CloseIdleConnections()
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	batch, reported := make([]span, 0, maxBatch), false
	send := func(ctx context.Context) {
		for more := true; more && len(batch) < maxBatch; {
			select {
			case s := <-t.waiting:
				batch = append(batch, s)
			default:
				more = false
			}
		}
		if len(batch) == 0 {
			return
		}
		err := t.send(ctx, batch)
		if err != nil {
			t.lost.Add(int64(len(batch)))
			if !reported {
				t.options.Logger.Warn("traces cannot be sent; this is logged once", "error", err)
			}
			reported = true
		} else {
			reported = false
		}
		batch = batch[:0]
	}
	for {
		select {
		case s := <-t.waiting:
			if batch = append(batch, s); len(batch) < maxBatch {
				continue
			}
			send(ctx)
		case <-ticker.C:
			send(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			for len(batch)+len(t.waiting) > 0 && last.Err() == nil {
				send(last)
			}
			return
		}
	}
}

func (t *Tracer) send(ctx context.Context, spans []span) error {
	body, err := json.Marshal(t.request(spans))
	if err != nil {
		return fmt.Errorf("encoding spans: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.options.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("sending spans: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := t.http.Do(request)
	if err != nil {
		return fmt.Errorf("sending spans: %w", err)
	}
	defer func() { _ = response.Body.Close() }()                      // it was only read
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection is used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("sending spans: the collector answers %s", response.Status)
	}
	return nil
}
