package serve

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strings"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// maxListFile limits the size of an allow-file and a configuration, in bytes.
const maxListFile = 16 << 20

// Guard configures which peers a relay admits and how much they may use. Its fields
// override the file, which overrides the defaults.
type Guard struct {
	ConfigFile string   // see configFile; "" means none
	Admission  string   // a relay.AdmissionMode; "" means open, or allow-list if ids are listed
	Allow      []string // ids
	AllowFile  string   // ids, one per line; # begins a comment
	Memory     string   // as in "512MiB"; "" means half of what the machine or its container has
	Nodes      int      // number of nodes that share the store; see relay.Config
	// Limits replace those of the file, for a program that embeds a relay; nil uses
	// the file's.
	Limits *relay.Limits
	// ProxyProtocol expects a PROXY header, version 1 or 2, from the trusted proxies.
	ProxyProtocol bool
	// MetricsListen is a separate address for /metrics. Without one /metrics
	// answers only requests from this machine.
	MetricsListen string
}

// AddFlags adds the flags of a Guard, which both commands have.
func (g *Guard) AddFlags(flags *flag.FlagSet) {
	flags.StringVar(&g.ConfigFile, "config", "", "`file` with admission and limits, TOML; flags override it")
	flags.StringVar(&g.Admission, "admission", "", "admission `mode`: open, invite or allow-list (default: open)")
	flags.Func("allow", "`id` to admit; ids that are not listed are rejected; may be repeated", func(s string) error {
		g.Allow = append(g.Allow, s)
		return nil
	})
	flags.StringVar(&g.AllowFile, "allow-file", "", "`file` with ids to admit, one per line")
	flags.StringVar(&g.Memory, "memory", "", "limit (`size`) of the memory for queues, buffers and connections, such as 512MiB (default: half of the memory)")
	flags.IntVar(&g.Nodes, "nodes", 0, "`number` of relays that share the store, for the check that codes cannot be guessed (default: 1, or 32 with a bus)")
	flags.BoolVar(&g.ProxyProtocol, "proxy-protocol", false, "trusted proxies begin each connection with a PROXY header, version 1 or 2")
	flags.StringVar(&g.MetricsListen, "metrics-listen", "", "`address` for /metrics (default: the relay's own, for requests from this machine only)")
}

// guarded is a Guard whose files were read and checked.
type guarded struct {
	names         names
	admission     relay.Admission
	limits        relay.Limits
	nodes         int
	proxyProtocol bool
	metricsListen string
}

// names are the public names of a relay; see relay.Config.
type names struct {
	publicURLs, allowedOrigins []string
	trustedProxies             []netip.Prefix
}

// namesOf takes values from the file that no flag has set.
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

// readAgain returns the settings that a reload changes, from the files that the
// Guard names. started is their content at the start.
func (o Options) readAgain(started guarded) (relay.Settings, error) {
	now, err := o.Guard.load()
	if err != nil {
		return relay.Settings{}, err
	}
	if keys := now.fixedSince(started); len(keys) > 0 {
		o.Logger.Warn("some settings take effect only after a restart of the relay", "keys", keys)
	}
	if o.Names != nil {
		if urls := o.Names(); len(urls) > 0 {
			o.PublicURLs = urls
		}
	}
	called := o.namesOf(now.names)
	return relay.Settings{
		PublicURLs: called.publicURLs, AllowedOrigins: called.allowedOrigins, TrustedProxies: called.trustedProxies,
		Limits: now.limits, Nodes: now.nodes, Admission: &now.admission,
	}, nil
}

// fixedSince returns the changed keys that are read only at the start, because they
// determine what is listened on.
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
		return guarded{}, fmt.Errorf("nodes is %d: set it to the number of relays that share the store", out.nodes)
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
			return a, fmt.Errorf("%q in the allow-list is not an id: copy it from `scorel host status` or from the page's settings", text)
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
			return nil, fmt.Errorf("%s:%d: %q is not an id; write one id per line, and # before a comment", path, n, text)
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
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if at := new(fs.PathError); errors.As(err, &at) {
		err = at.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return data, nil
}
