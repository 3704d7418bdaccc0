// Package run measures relays side by side: each scenario goes round by round
// through all relays, so that what disturbs the machine meets all alike, and each
// measurement starts the relay again in a separate process.
package run

import (
	"fmt"

	"github.com/scorel/scorel/apps/bench/internal/report"
)

// Relay is what can be measured.
type Relay struct {
	Name     string
	Protocol string // of peer.Protocols
	Server   string // kind of serve
	Nodes    int    // more than one meet over a NATS server
	// CPUs is how many each process may run Go code on at once, those of the relay and
	// that of the load; 0 is all of the machine's.
	CPUs int
}

// Relays are all, ours first.
func Relays() []Relay {
	return []Relay{
		{Name: "scorel", Protocol: "scorel", Server: "scorel", Nodes: 1},
		{Name: "scorel-link", Protocol: "link", Server: "scorel", Nodes: 1},
		{Name: "scorel-sealed", Protocol: "sealed", Server: "scorel", Nodes: 1},
		{Name: "scorel-2nodes", Protocol: "scorel", Server: "scorel", Nodes: 2},
		{Name: "scorel-1cpu", Protocol: "scorel", Server: "scorel", Nodes: 1, CPUs: 1},
		{Name: "scorel-2nodes-1cpu", Protocol: "scorel", Server: "scorel", Nodes: 2, CPUs: 1},
		{Name: "splice", Protocol: "splice", Server: "splice", Nodes: 1},
		{Name: "naive", Protocol: "naive", Server: "naive", Nodes: 1},
		{Name: "derp", Protocol: "derp", Server: "derp", Nodes: 1},
		{Name: "nats", Protocol: "nats", Server: "nats", Nodes: 1},
	}
}

// kind is what a scenario does.
type kind int

const (
	echo kind = iota
	idle
	storm
)

// Scenario is one work.
type Scenario struct {
	Name string
	kind kind

	hosts, perHost int // idle and storm: connections are hosts
	window, size   int
	hostsBegin     bool
	queue          int // packets that DERP may hold for one connection; 0 is its default
	rounds         int // at most; 0 means as many as asked for
	without        []string
}

// Scenarios are all. connections is how many the idle scenario and the storm have.
func Scenarios(connections int) []Scenario {
	oneCPU := []string{"scorel-1cpu", "scorel-2nodes-1cpu"} // they tell of nodes, on one work
	return []Scenario{
		{Name: "small", kind: echo, hosts: 64, perHost: 1, window: 16, size: 256},
		{Name: "large", kind: echo, hosts: 64, perHost: 1, window: 4, size: 16 << 10, without: oneCPU},
		{Name: "latency", kind: echo, hosts: 1, perHost: 1, window: 1, size: 256, without: oneCPU},
		{Name: "fanout", kind: echo, hosts: 1, perHost: 200, window: 4, size: 256, hostsBegin: true, queue: 4096, without: oneCPU},
		{Name: "idle", kind: idle, hosts: connections, rounds: 1, without: append([]string{"scorel-link", "scorel-sealed", "scorel-2nodes"}, oneCPU...)},
		{Name: "storm", kind: storm, hosts: connections, rounds: 1, without: append([]string{"scorel-link", "scorel-sealed", "scorel-2nodes", "splice"}, oneCPU...)},
	}
}

// Section describes the scenario for a report.
func (s Scenario) Section() report.Section {
	out := report.Section{Name: s.Name}
	switch s.kind {
	case echo:
		who := fmt.Sprintf("%d hosts with %d entry each", s.hosts, s.perHost)
		if s.hosts == 1 {
			who = fmt.Sprintf("1 host with %d entries", s.perHost)
		}
		begins := "the entries send, the hosts echo"
		if s.hostsBegin {
			begins = "the host sends to each, the entries echo"
		}
		out.Title = fmt.Sprintf("%s, window %d, %d bytes; %s", who, s.window, s.size, begins)
		out.Metrics = []report.Metric{report.EchoesPerSecond, report.RelayCPU, report.P50, report.P99, report.LoadCPU}
	case idle:
		out.Title = fmt.Sprintf("%d hosts connected and silent", s.hosts)
		out.Metrics = []report.Metric{report.IdleMemory}
	case storm:
		out.Title = fmt.Sprintf("%d hosts; the relay is killed and started again on the same address", s.hosts)
		out.Metrics = []report.Metric{report.BackAfter, report.PeakCPU, report.StormCPU, report.FailedDials}
	}
	return out
}

// Targets are what our relay must hold.
func Targets() []report.Target {
	return []report.Target{
		{Scenario: "small", Relay: "scorel", Metric: report.EchoesPerSecond, Against: "nats", AtLeast: true, Factor: 1},
		{Scenario: "small", Relay: "scorel", Metric: report.RelayCPU, Against: "nats", Factor: 1},
		{Scenario: "large", Relay: "scorel", Metric: report.EchoesPerSecond, Against: "nats", AtLeast: true, Factor: 1.2},
		{Scenario: "latency", Relay: "scorel", Metric: report.P50, Against: "naive", Factor: 1.15},
		{Scenario: "idle", Relay: "scorel", Metric: report.IdleMemory, Factor: 12},
		{Scenario: "small", Relay: "scorel-2nodes", Metric: report.EchoesPerSecond, Against: "scorel", AtLeast: true, Factor: 0.5},
		{Scenario: "small", Relay: "scorel-2nodes-1cpu", Metric: report.EchoesPerSecond, Against: "scorel-1cpu", AtLeast: true, Factor: 0.5},
		{Scenario: "small", Relay: "scorel-sealed", Metric: report.EchoesPerSecond, Against: "nats", AtLeast: true, Factor: 1},
		{Scenario: "large", Relay: "scorel-sealed", Metric: report.EchoesPerSecond, Against: "nats", AtLeast: true, Factor: 1},
		{Scenario: "fanout", Relay: "scorel-sealed", Metric: report.EchoesPerSecond, Against: "nats", AtLeast: true, Factor: 1},
		{Scenario: "latency", Relay: "scorel-sealed", Metric: report.P50, Against: "nats", Factor: 1},
		{Scenario: "latency", Relay: "scorel-sealed", Metric: report.P50, Against: "naive", Factor: 1.15},
		{Scenario: "small", Relay: "scorel-sealed", Metric: report.EchoesPerSecond, Against: "scorel", AtLeast: true, Factor: 0.6},
		{Scenario: "small", Relay: "scorel-sealed", Metric: report.EchoesPerSecond, Against: "scorel-link", AtLeast: true, Factor: 0.6},
	}
}
