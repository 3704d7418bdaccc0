package load

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// pipe is an endpoint that hands records straight to another in this process.
type pipe struct {
	other *pipe
	in    chan []byte
	once  sync.Once
	done  chan struct{}
	lose  bool // every hundredth record
	n     int
}

func newPipes() (a, b *pipe) {
	a = &pipe{in: make(chan []byte, 1024), done: make(chan struct{})}
	b = &pipe{in: make(chan []byte, 1024), done: make(chan struct{})}
	a.other, b.other = b, a
	return a, b
}

func (p *pipe) Peers() int { return 1 }

func (p *pipe) Send(_ int, payload []byte) error {
	if p.n++; p.lose && p.n%100 == 0 {
		return nil
	}
	p.other.in <- append([]byte(nil), payload...)
	return nil
}

func (p *pipe) Flush() error { return nil }

func (p *pipe) Run(handle Handler) error {
	for {
		select {
		case m := <-p.in:
			if err := handle(0, m); err != nil {
				return err
			}
		case <-p.done:
			return nil
		}
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func TestEchoCountsAndFindsLoss(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		host, entry := newPipes()
		host.lose = lossy
		marks := 0
		got, err := Echo(context.Background(), &Fleet{Hosts: []Endpoint{host}, Entries: []Endpoint{entry}},
			Work{Window: 4, Size: 32, Warmup: time.Millisecond, Measure: 20 * time.Millisecond},
			func() error { marks++; return nil })
		if lossy {
			if err == nil || !strings.Contains(err.Error(), "lost") {
				t.Errorf("with loss: error %v, want one that says so", err)
			}
			continue
		}
		if err != nil || got.Echoes == 0 || marks != 2 || got.Latency.Quantile(0.5) <= 0 {
			t.Errorf("got %+v, %d marks, %v", got, marks, err)
		}
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h Histogram
	for i := range int64(10_000) {
		h.Add(i * 1000)
	}
	for q, want := range map[float64]int64{0: 0, 0.5: 5_000_000, 0.99: 9_900_000} {
		if got := h.Quantile(q); got < want-want/50 || got > want+want/50 {
			t.Errorf("quantile %v is %d, want %d within 2 %%", q, got, want)
		}
	}
	for v := uint64(1); v < 1<<45; v = v*3 + 1 {
		if i := bucket(v); uint64(lowest(i)) > v || uint64(lowest(i+1)) <= v {
			t.Fatalf("%d is in bucket %d, from %d to %d", v, i, lowest(i), lowest(i+1))
		}
	}
}
