package relay

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// metrics counts what happens. No label holds an id or an address.
type metrics struct {
	registry *prometheus.Registry

	connections  *prometheus.GaugeVec   // by role
	logins       *prometheus.CounterVec // by result
	ends         *prometheus.CounterVec // connections, by reason
	channels     prometheus.Gauge
	channelEnds  *prometheus.CounterVec // by reason
	opens        *prometheus.CounterVec // by result
	records      prometheus.Counter
	recordBytes  prometheus.Counter
	dropped      *prometheus.CounterVec // records, by reason
	pairs        *prometheus.CounterVec // by result
	revocations  prometheus.Counter
	refused      *prometheus.CounterVec // requests turned away before login, by reason
	unknownTypes prometheus.Counter
	storeErrors  *prometheus.CounterVec // by operation

	paused prometheus.Counter

	busUp         prometheus.Gauge
	nodes         prometheus.Gauge
	busLosses     prometheus.Counter
	busGaps       prometheus.Counter
	busErrors     prometheus.Counter
	remoteRecords prometheus.Counter
	remoteBytes   prometheus.Counter
}

// Results that are no wire.Kind.
const (
	resultOK       = "ok"
	roleHost       = "host"
	roleEntry      = "entry"
	dropNoChannel  = "no_channel"
	dropQueueFull  = "queue_full"
	dropPeerGone   = "peer_gone"
	dropMemory     = "memory"
	refusedHost    = "host"
	refusedOrigin  = "origin"
	refusedFull    = "full"
	refusedCrowd   = "address_full"
	refusedMemory  = "memory"
	refusedRate    = "rate_limited"
	refusedDraw    = "handshake"
	refusedClosing = "shutting_down"
	storeLogin     = "login" // operations of the store
	storeBind      = "bind"
	storeRevoke    = "revoke"
	storeCheck     = "check"
)

func newMetrics(more []prometheus.Collector) *metrics {
	m := &metrics{
		paused:        counter("paused_seconds_total", "Time that connections were not read from because they sent too much."),
		busUp:         gauge("bus_up", "1 while the bus to other nodes can be reached, 0 without a bus."),
		nodes:         gauge("nodes", "Other nodes that are heard of."),
		busLosses:     counter("bus_losses_total", "Times that the bus told of lost messages or of an outage."),
		busGaps:       counter("bus_gaps_total", "Times that what another node sent on a trunk was lost."),
		busErrors:     counter("bus_errors_total", "Subscriptions and notices that the bus did not take."),
		remoteRecords: counter("remote_records_total", "Records received from other nodes."),
		remoteBytes:   counter("remote_record_bytes_total", "Payload bytes of records received from other nodes."),
		registry:      prometheus.NewRegistry(),
		connections:   gauges("connections", "Logged-in connections.", "role"),
		logins:        counters("logins_total", "Logins by result.", "result"),
		ends:          counters("connection_ends_total", "Ended connections by reason.", "reason"),
		channels:      gauge("channels", "Open channels."),
		channelEnds:   counters("channel_ends_total", "Ended channels by reason.", "reason"),
		opens:         counters("channel_opens_total", "Requests to open a channel by result.", "result"),
		records:       counter("records_total", "Records received."),
		recordBytes:   counter("record_bytes_total", "Payload bytes of records received."),
		dropped:       counters("records_dropped_total", "Records that reached nobody, by reason.", "reason"),
		pairs:         counters("pairings_total", "Ended pairings by result.", "result"),
		revocations:   counter("revocations_total", "Bindings revoked."),
		refused:       counters("refused_total", "Requests to connect turned away, by reason.", "reason"),
		unknownTypes:  counter("unknown_frames_total", "Control frames of an unknown type, which are skipped."),
		storeErrors:   counters("store_errors_total", "Questions that the store failed to answer, by operation.", "operation"),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.connections, m.logins, m.ends, m.channels, m.channelEnds, m.opens, m.records, m.recordBytes,
		m.dropped, m.pairs, m.revocations, m.refused, m.unknownTypes, m.storeErrors,
		m.paused, m.busUp, m.nodes, m.busLosses, m.busGaps, m.busErrors, m.remoteRecords, m.remoteBytes,
	)
	m.registry.MustRegister(more...)
	m.startAtZero()
	return m
}

// startAtZero makes every known series exist, so that an alert on a rate sees
// the first event.
func (m *metrics) startAtZero() {
	for _, reason := range wire.Reasons() {
		m.ends.WithLabelValues(string(reason))
		m.channelEnds.WithLabelValues(string(reason))
	}
	for _, role := range []string{roleHost, roleEntry} {
		m.connections.WithLabelValues(role)
	}
	for _, reason := range []string{dropNoChannel, dropQueueFull, dropPeerGone, dropMemory} {
		m.dropped.WithLabelValues(reason)
	}
	for _, reason := range []string{refusedHost, refusedOrigin, refusedFull, refusedCrowd, refusedMemory, refusedRate, refusedDraw, refusedClosing} {
		m.refused.WithLabelValues(reason)
	}
	for _, kind := range []wire.Kind{wire.KindInviteRequired, wire.KindNotAdmitted, wire.KindRateLimited} {
		m.logins.WithLabelValues(kind.String())
	}
	m.opens.WithLabelValues(wire.KindLimit.String())
	m.logins.WithLabelValues(resultOK)
	m.opens.WithLabelValues(resultOK)
	m.pairs.WithLabelValues(resultOK)
	for _, operation := range []string{storeLogin, storeBind, storeRevoke, storeCheck} {
		m.storeErrors.WithLabelValues(operation)
	}
}

func role(kind ident.Kind) string {
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
