package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/scorel/scorel/packages/loopback"
)

// State is what a host is doing now.
type State struct {
	Sessions, Running, Approvals, Questions int
	Connections                             int // of clients and programs
	Relays                                  map[string]int
}

// Metrics are the counters of a host and the registry that shows them. A nil Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	steps    *prometheus.HistogramVec
	used     *prometheus.CounterVec
}

// NewMetrics returns the metrics of a host. state is asked for each time they are read.
func NewMetrics(version string, relayStates []string, state func() State) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scorel_host_step_seconds", Help: "Duration of steps that have ended.", Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600},
		}, []string{"kind", "outcome"}),
		used: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "scorel_host_tokens_total", Help: "Tokens that models have read and written."}, []string{"direction"}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "scorel_host_build_info", Help: "1; the label is the running version."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.steps, m.used, build,
		&now{state: state, relayStates: relayStates, sessions: describe("sessions", "Sessions, by what they do.", "state"),
			connections: describe("connections", "Connections of clients and programs."), relays: describe("relays", "Relays, by the state of the connection.", "state")})
	return m
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("scorel_host_"+name, help, labels, nil)
}

// now collects what a host is doing.
type now struct {
	state                         func() State
	relayStates                   []string
	sessions, connections, relays *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (n *now) Describe(out chan<- *prometheus.Desc) {
	out <- n.sessions
	out <- n.connections
	out <- n.relays
}

// Collect implements prometheus.Collector.
func (n *now) Collect(out chan<- prometheus.Metric) {
	s := n.state()
	gauge := func(d *prometheus.Desc, value int, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(n.sessions, s.Sessions, "all")
	gauge(n.sessions, s.Running, "running")
	gauge(n.sessions, s.Approvals, "waiting_approval")
	gauge(n.sessions, s.Questions, "waiting_answer")
	gauge(n.connections, s.Connections)
	for _, state := range n.relayStates {
		gauge(n.relays, s.Relays[state], state)
	}
}

func (m *Metrics) ended(kind Kind, outcome string, after time.Duration) {
	if m != nil {
		m.steps.WithLabelValues(string(kind), outcome).Observe(after.Seconds())
	}
}

func (m *Metrics) tokens(input, output int64) {
	if m != nil && input >= 0 && output >= 0 {
		m.used.WithLabelValues("input").Add(float64(input))
		m.used.WithLabelValues("output").Add(float64(output))
	}
}

// Listen listens on a loopback address, since metrics are neither encrypted nor protected.
func Listen(address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics_listen %q is not an address: give host:port, as in 127.0.0.1:9464", address)
	}
	if !at.IP.IsLoopback() {
		return nil, fmt.Errorf("metrics_listen %s can be reached by other machines: use an address of this machine, such as 127.0.0.1:9464", address)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("metrics cannot be served: choose another metrics_listen (%w)", err)
	}
	return l, nil
}

// Limits of requests for metrics.
const (
	readTimeout  = 5 * time.Second
	writeTimeout = 10 * time.Second
	maxHeader    = 16 << 10
)

// Serve serves /metrics until ctx ends.
func (m *Metrics) Serve(ctx context.Context, l net.Listener, log *slog.Logger) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", ownName(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})))
	server := &http.Server{
		Handler: mux, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = server.Close(); close(ended) })
	log.Info("metrics are served", "address", l.Addr().String())
	if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Error("serving metrics failed", "error", err)
	}
	if !stop() {
		<-ended
	}
}

// ownName refuses requests that name another host, as a page in a browser makes them whose name was
// pointed at this machine.
func ownName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Is(r.Host) {
			http.Error(w, "metrics are not served under that name: use 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
