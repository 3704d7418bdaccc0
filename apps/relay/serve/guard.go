package serve

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// maxListFile bounds an allow-file and a configuration, in bytes.
const maxListFile = 16 << 20

// Guard says whom a relay serves and how much they may take. What is set here beats
// the file, which beats the defaults.
type Guard struct {
	ConfigFile string   // see configFile; "" is none
	Admission  string   // a relay.AdmissionMode; "" is open, or allow-list when ids are listed
	Allow      []string // ids
	AllowFile  string   // ids, one a line; # begins a comment
	Memory     string   // as in "512MiB"; "" is half of what the machine or its container has
	Nodes      int      // that share the store; see relay.Config
	// Limits stand in place of the file's for a program that serves a relay of its
	// own; nil leaves them to the file.
	Limits *relay.Limits
	// ProxyProtocol expects a PROXY header, version 1 or 2, from the trusted proxies.
	ProxyProtocol bool
	// MetricsListen is an address for /metrics alone. Without one /metrics answers
	// requests from this machine only.
	MetricsListen string
}

// AddFlags adds the flags of a Guard, which both commands have.
func (g *Guard) AddFlags(flags *flag.FlagSet) {
	flags.StringVar(&g.ConfigFile, "config", "", "`file` with admission and limits, TOML; flags beat it")
	flags.StringVar(&g.Admission, "admission", "", "who may come in, `mode` open, invite or allow-list (default: open)")
	flags.Func("allow", "`id` to let in, and nobody else who is not listed; may be repeated", func(s string) error {
		g.Allow = append(g.Allow, s)
		return nil
	})
	flags.StringVar(&g.AllowFile, "allow-file", "", "`file` with ids to let in, one a line")
	flags.StringVar(&g.Memory, "memory", "", "`size` of what queues, buffers and connections may hold, such as 512MiB (default: half of the memory)")
	flags.IntVar(&g.Nodes, "nodes", 0, "`number` of relays that share the store, for the check that no code can be guessed (default: 1, with a bus 32)")
	flags.BoolVar(&g.ProxyProtocol, "proxy-protocol", false, "trusted proxies begin each connection with a PROXY header, version 1 or 2")
	flags.StringVar(&g.MetricsListen, "metrics-listen", "", "`address` for /metrics (default: the relay's own, for requests from this machine only)")
}

// guarded is a Guard that was read and checked.
type guarded struct {
	names         names
	admission     relay.Admission
	limits        relay.Limits
	nodes         int
	proxyProtocol bool
	metricsListen string
}

// names are the addresses that a relay goes by; see relay.Config.
type names struct {
	publicURLs, allowedOrigins []string
	trustedProxies             []netip.Prefix
}

// namesOf takes what no flag said from the file.
func (o Options) namesOf(file names) names {
	if len(o.PublicURLs) > 0 {
		file.publicURLs = o.PublicURLs
	}
	if len(o.AllowedOrigins) > 0 {
		file.allowedOrigins = o.AllowedOrigins
	}
	if len(o.TrustedProxies) > 0 {
		file.trustedProxies = o.TrustedProxies
	}
	return file
}

// readAgain is what a reload changes: the files that the Guard names. started is what
// they held at the start.
func (o Options) readAgain(started guarded) (relay.Settings, error) {
	now, err := o.Guard.load()
	if err != nil {
		return relay.Settings{}, err
	}
	if keys := now.fixedSince(started); len(keys) > 0 {
		o.Logger.Warn("some of the settings count from the next start on: restart the relay to use them", "keys", keys)
	}
	called := o.namesOf(now.names)
	return relay.Settings{
		PublicURLs: called.publicURLs, AllowedOrigins: called.allowedOrigins, TrustedProxies: called.trustedProxies,
		Limits: now.limits, Nodes: now.nodes, Admission: &now.admission,
	}, nil
}

// fixedSince names the keys that changed and that only a start reads: they decide what
// is listened on.
func (g guarded) fixedSince(started guarded) (keys []string) {
	if g.proxyProtocol != started.proxyProtocol {
		keys = append(keys, "proxy_protocol")
	}
	if g.metricsListen != started.metricsListen {
		keys = append(keys, "metrics_listen")
	}
	return keys
}

// load reads the files that a Guard names. A reload calls it again.
func (g Guard) load() (guarded, error) {
	var file configFile
	if g.ConfigFile != "" {
		var err error
		if file, err = readConfig(g.ConfigFile); err != nil {
			return guarded{}, err
		}
	}
	if g.Admission != "" || len(g.Allow) > 0 || g.AllowFile != "" {
		file.Admission, file.Allow, file.AllowFile = g.Admission, g.Allow, g.AllowFile
	}
	admission, err := admissionOf(file)
	if err != nil {
		return guarded{}, err
	}
	if g.Memory != "" {
		if err := file.Memory.UnmarshalText([]byte(g.Memory)); err != nil {
			return guarded{}, fmt.Errorf("memory: %w", err)
		}
	}
	out := guarded{
		names:     file.names(),
		admission: admission, limits: file.Limits.limits(), nodes: file.Nodes,
		proxyProtocol: file.ProxyProtocol || g.ProxyProtocol, metricsListen: file.MetricsListen,
	}
	if g.Limits != nil {
		out.limits = *g.Limits
	}
	if g.Nodes != 0 {
		out.nodes = g.Nodes
	}
	if g.MetricsListen != "" {
		out.metricsListen = g.MetricsListen
	}
	if out.limits.Memory = int64(file.Memory); file.Memory == 0 {
		out.limits.Memory = defaultMemory()
	}
	if out.nodes < 0 || out.nodes > 10_000 {
		return guarded{}, fmt.Errorf("nodes is %d: want how many relays share the store", out.nodes)
	}
	return out, nil
}

func admissionOf(file configFile) (relay.Admission, error) {
	ids := file.Allow
	if file.AllowFile != "" {
		listed, err := readIDs(file.AllowFile)
		if err != nil {
			return relay.Admission{}, err
		}
		ids = append(ids[:len(ids):len(ids)], listed...)
	}
	a := relay.Admission{Mode: relay.AdmissionMode(file.Admission)}
	if a.Mode == "" && (len(file.Allow) > 0 || file.AllowFile != "") {
		a.Mode = relay.AdmitListed
	}
	for _, text := range ids {
		id, err := ident.ParseID(text)
		if err != nil {
			return a, fmt.Errorf("%q is no id: it is listed to be let in; give it as `scorel host status` or the page's settings show it", text)
		}
		a.Allow = append(a.Allow, id)
	}
	return a, a.Check()
}

// readIDs reads an allow-file.
func readIDs(path string) ([]string, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	var ids []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if _, err := ident.ParseID(text); err != nil {
			return nil, fmt.Errorf("%s:%d: %q is no id; write one a line, and # before a comment", path, n, text)
		}
		ids = append(ids, text)
	}
	return ids, lines.Err()
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxListFile {
		err = errors.New("it is larger than 16 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return data, nil
}
