// Package metrics counts what happens in a relay, for Prometheus. No label holds an
// id or an address.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Metrics are the counters of one relay and the registry that shows them.
type Metrics struct {
	Registry *prometheus.Registry

	Connections  *prometheus.GaugeVec   // by role
	Logins       *prometheus.CounterVec // by result
	Ends         *prometheus.CounterVec // connections, by reason
	Channels     prometheus.Gauge
	ChannelEnds  *prometheus.CounterVec // by reason
	Opens        *prometheus.CounterVec // by result
	Records      prometheus.Counter
	RecordBytes  prometheus.Counter
	Dropped      *prometheus.CounterVec // records, by reason
	Pairs        *prometheus.CounterVec // by result
	Claims       *prometheus.CounterVec // by result
	Revocations  prometheus.Counter
	Refused      *prometheus.CounterVec // requests refused before login, by reason
	UnknownTypes prometheus.Counter
	StoreErrors  *prometheus.CounterVec // by operation

	Paused prometheus.Counter

	BusUp         prometheus.Gauge
	Nodes         prometheus.Gauge
	BusLosses     prometheus.Counter
	BusGaps       prometheus.Counter
	BusErrors     prometheus.Counter
	RemoteRecords prometheus.Counter
	RemoteBytes   prometheus.Counter
}

// Results that are no wire.Kind.
const (
	OK               = "ok"
	roleHost         = "host"
	roleEntry        = "entry"
	DropNoChannel    = "no_channel"
	DropQueueFull    = "queue_full"
	DropPeerGone     = "peer_gone"
	DropMemory       = "memory"
	RefusedHost      = "host"
	RefusedOrigin    = "origin"
	RefusedFull      = "full"
	RefusedCrowd     = "address_full"
	RefusedMemory    = "memory"
	RefusedRate      = "rate_limited"
	RefusedHandshake = "handshake"
	RefusedClosing   = "shutting_down"
	StoreLogin       = "login" // operations of the store
	StoreBind        = "bind"
	StoreRevoke      = "revoke"
	StoreClaim       = "claim"
	StoreCheck       = "check"
)

// New returns metrics with all values at zero. The registry has further metrics.
func New(more []prometheus.Collector) *Metrics {
	m := &Metrics{
		Paused:        counter("paused_seconds_total", "Time during which connections were not read because they had sent too much."),
		BusUp:         gauge("bus_up", "1 while the bus to other nodes can be reached, 0 without a bus."),
		Nodes:         gauge("nodes", "Other nodes that are alive."),
		BusLosses:     counter("bus_losses_total", "How often the bus reported lost messages or an outage."),
		BusGaps:       counter("bus_gaps_total", "How often messages of another node on a trunk were lost."),
		BusErrors:     counter("bus_errors_total", "Subscriptions and notices that failed on the bus."),
		RemoteRecords: counter("remote_records_total", "Records received from other nodes."),
		RemoteBytes:   counter("remote_record_bytes_total", "Payload bytes of records received from other nodes."),
		Registry:      prometheus.NewRegistry(),
		Connections:   gauges("connections", "Logged-in connections.", "role"),
		Logins:        counters("logins_total", "Logins by result.", "result"),
		Ends:          counters("connection_ends_total", "Ended connections by reason.", "reason"),
		Channels:      gauge("channels", "Open channels."),
		ChannelEnds:   counters("channel_ends_total", "Ended channels by reason.", "reason"),
		Opens:         counters("channel_opens_total", "Requests to open a channel by result.", "result"),
		Records:       counter("records_total", "Records received."),
		RecordBytes:   counter("record_bytes_total", "Payload bytes of records received."),
		Dropped:       counters("records_dropped_total", "Records that were dropped, by reason.", "reason"),
		Pairs:         counters("pairings_total", "Ended pairings by result.", "result"),
		Claims:        counters("claims_total", "Claims of signed bindings by result.", "result"),
		Revocations:   counter("revocations_total", "Bindings revoked."),
		Refused:       counters("refused_total", "Requests to connect that were refused, by reason.", "reason"),
		UnknownTypes:  counter("unknown_frames_total", "Control frames of an unknown type, which are skipped."),
		StoreErrors:   counters("store_errors_total", "Store operations that failed, by operation.", "operation"),
	}
	m.Registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.Connections, m.Logins, m.Ends, m.Channels, m.ChannelEnds, m.Opens, m.Records, m.RecordBytes,
		m.Dropped, m.Pairs, m.Claims, m.Revocations, m.Refused, m.UnknownTypes, m.StoreErrors,
		m.Paused, m.BusUp, m.Nodes, m.BusLosses, m.BusGaps, m.BusErrors, m.RemoteRecords, m.RemoteBytes,
	)
	m.Registry.MustRegister(more...)
	m.startAtZero()
	return m
}

// startAtZero creates every known series, so that an alert on a rate notices the first
// event.
func (m *Metrics) startAtZero() {
	for _, reason := range wire.Reasons() {
		m.Ends.WithLabelValues(string(reason))
		m.ChannelEnds.WithLabelValues(string(reason))
	}
	for _, role := range []string{roleHost, roleEntry} {
		m.Connections.WithLabelValues(role)
	}
	for _, reason := range []string{DropNoChannel, DropQueueFull, DropPeerGone, DropMemory} {
		m.Dropped.WithLabelValues(reason)
	}
	for _, reason := range []string{RefusedHost, RefusedOrigin, RefusedFull, RefusedCrowd, RefusedMemory, RefusedRate, RefusedHandshake, RefusedClosing} {
		m.Refused.WithLabelValues(reason)
	}
	for _, kind := range []wire.Kind{wire.KindInviteRequired, wire.KindNotAdmitted, wire.KindRateLimited} {
		m.Logins.WithLabelValues(kind.String())
	}
	m.Opens.WithLabelValues(wire.KindLimit.String())
	m.Logins.WithLabelValues(OK)
	m.Opens.WithLabelValues(OK)
	m.Pairs.WithLabelValues(OK)
	m.Claims.WithLabelValues(OK)
	for _, operation := range []string{StoreLogin, StoreBind, StoreRevoke, StoreClaim, StoreCheck} {
		m.StoreErrors.WithLabelValues(operation)
	}
}

// Role is the label of a connection: a device is a host, a client an entry.
func Role(kind ident.Kind) string {
	if kind == ident.KindDevice {
		return roleHost
	}
	return roleEntry
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "scorel_relay_" + name, Help: help})
}

func counters(name, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "scorel_relay_" + name, Help: help}, []string{label})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "scorel_relay_" + name, Help: help})
}

func gauges(name, help, label string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "scorel_relay_" + name, Help: help}, []string{label})
}

// Show registers a gauge whose value is looked up at each scrape.
func (m *Metrics) Show(name, help string, value func() float64) {
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "scorel_relay_" + name, Help: help}, value))
}

// ShowVersion registers the gauge that names the running version.
func (m *Metrics) ShowVersion(version string) {
	info := gauges("build_info", "1; the label says which version runs.", "version")
	info.WithLabelValues(version).Set(1)
	m.Registry.MustRegister(info)
}
