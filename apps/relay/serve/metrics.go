package serve

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What can be reloaded, and the results.
const (
	reloadCertificate = "certificate"
	reloadSettings    = "settings"
	resultOK          = "ok"
	resultFailed      = "failed"
)

// metrics are the process's additions to the relay's own.
type metrics struct {
	expiry     prometheus.GaugeFunc
	certErrors prometheus.Counter
	reloads    *prometheus.CounterVec // by what and result

	mu      sync.Mutex
	expires map[string]time.Time // by name; "" for certificate files
}

func newMetrics() *metrics {
	m := &metrics{
		certErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scorel_relay_certificate_errors_total", Help: "TLS handshakes that failed because ACME provided no certificate.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scorel_relay_reloads_total", Help: "Reloads of the certificate or the settings, by result.",
		}, []string{"what", "result"}),
		expires: make(map[string]time.Time),
	}
	m.expiry = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "scorel_relay_certificate_expiry_timestamp_seconds", Help: "When the first of the certificates in use expires, in Unix seconds; 0 without a certificate.",
	}, m.firstExpiry)
	for _, what := range []string{reloadCertificate, reloadSettings} {
		m.reloads.WithLabelValues(what, resultOK)
		m.reloads.WithLabelValues(what, resultFailed)
	}
	return m
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.expiry, m.certErrors, m.reloads}
}

func (m *metrics) reloaded(what string, err error) {
	result := resultOK
	if err != nil {
		result = resultFailed
	}
	m.reloads.WithLabelValues(what, result).Inc()
}

func (m *metrics) sawCertificate(name string, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expires[name] = expires
}

func (m *metrics) firstExpiry() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first time.Time
	for _, at := range m.expires {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if first.IsZero() {
		return 0
	}
	return float64(first.Unix())
}
