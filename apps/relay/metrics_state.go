package relay

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// watchState shows what is not counted but looked up when somebody asks.
func (r *Relay) watchState() {
	show := func(name, help string, value func() float64) {
		r.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "scorel_relay_" + name, Help: help}, value))
	}
	show("healthy", "1 while the routing state answers, as /healthz tells.", func() float64 {
		return truth(r.probe(context.Background()) == nil)
	})
	show("blind", "1 while neither store nor bus can tell what was revoked; no channel is open then.", func() float64 {
		return truth(r.cluster.blind.Load())
	})
	show("sockets", "Open connections, those before their login included.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return float64(len(r.conns))
	})
	show("sockets_limit", "How many connections may be open.", func() float64 { return float64(r.limits().Connections) })
	show("draining", "1 while the relay asks its peers to leave.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return truth(r.draining)
	})
	show("bus_waiting", "Notices and subscriptions that wait for the bus.", func() float64 {
		r.cluster.outbox.mu.Lock()
		defer r.cluster.outbox.mu.Unlock()
		return float64(len(r.cluster.outbox.waiting))
	})
	info := gauges("build_info", "1; the label says which version runs.", "version")
	info.WithLabelValues(r.cfg.Version).Set(1)
	r.metrics.registry.MustRegister(info)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
