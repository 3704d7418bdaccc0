package serve

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/scorel/scorel/apps/relay"
)

// configFile is the relay's configuration file. Unknown keys are errors.
type configFile struct {
	PublicURLs     []string `toml:"public_urls"`
	AllowedOrigins []string `toml:"allowed_origins"`
	TrustedProxies []proxy  `toml:"trusted_proxies"`

	Admission     string     `toml:"admission"`
	Allow         []string   `toml:"allow"`
	AllowFile     string     `toml:"allow_file"`
	Memory        size       `toml:"memory"`
	Nodes         int        `toml:"nodes"`
	ProxyProtocol bool       `toml:"proxy_protocol"`
	MetricsListen string     `toml:"metrics_listen"`
	Limits        limitsFile `toml:"limits"`
}

func (f configFile) names() names {
	out := names{publicURLs: f.PublicURLs, allowedOrigins: f.AllowedOrigins}
	for _, p := range f.TrustedProxies {
		out.trustedProxies = append(out.trustedProxies, p.prefix)
	}
	return out
}

// limitsFile is the table [limits]; relay.Limits documents the fields.
type limitsFile struct {
	Connections           int      `toml:"connections"`
	ConnectionsPerAddress int      `toml:"connections_per_address"`
	ConnectionsPerEntry   int      `toml:"connections_per_entry"`
	ChannelsPerEntry      int      `toml:"channels_per_entry"`
	ChannelsPerHost       int      `toml:"channels_per_host"`
	ChannelQueue          size     `toml:"channel_queue"`
	Queue                 size     `toml:"queue"`
	LoginTimeout          duration `toml:"login_timeout"`
	PairTimeout           duration `toml:"pair_timeout"`
	WriteTimeout          duration `toml:"write_timeout"`
	PingInterval          duration `toml:"ping_interval"`
	StoreTimeout          duration `toml:"store_timeout"`

	LoginFailures rateFile `toml:"login_failures_per_address"`
	Dials         rateFile `toml:"logins_per_address"`
	Logins        rateFile `toml:"logins_per_identity"`
	AllDials      rateFile `toml:"logins"`
	Pairs         rateFile `toml:"pairs_per_address_and_identity"`
	AllPairs      rateFile `toml:"pairs"`
	Opens         rateFile `toml:"channels_per_connection"`
	IdentityOpens rateFile `toml:"channels_per_identity"`
	AddressOpens  rateFile `toml:"channels_per_address"`
	AllOpens      rateFile `toml:"channels"`
	Controls      rateFile `toml:"frames_per_connection"`

	ConnectionBytes size  `toml:"bytes_per_connection"`
	IdentityBytes   *size `toml:"bytes_per_identity"` // nil means the default, 0 no limit
	AddressBytes    size  `toml:"bytes_per_address"`
	AllBytes        size  `toml:"bytes"`
}

type rateFile struct {
	Burst int      `toml:"burst"`
	Every duration `toml:"every"`
}

func (r rateFile) rate() relay.Rate { return relay.Rate{Burst: r.Burst, Every: time.Duration(r.Every)} }

// identityBytes is the default limit of one identity in bytes per second.
const identityBytes = 64 << 20

func (f limitsFile) limits() relay.Limits {
	bytes := relay.ByteRates{
		Connection: int64(f.ConnectionBytes), Identity: identityBytes, Address: int64(f.AddressBytes), All: int64(f.AllBytes),
	}
	if f.IdentityBytes != nil {
		bytes.Identity = int64(*f.IdentityBytes)
	}
	return relay.Limits{
		Connections: f.Connections, ConnectionsPerAddress: f.ConnectionsPerAddress, ConnectionsPerEntry: f.ConnectionsPerEntry,
		ChannelsPerEntry: f.ChannelsPerEntry, ChannelsPerHost: f.ChannelsPerHost,
		ChannelQueue: int(f.ChannelQueue), Queue: int(f.Queue),
		LoginTimeout: time.Duration(f.LoginTimeout), PairTimeout: time.Duration(f.PairTimeout), WriteTimeout: time.Duration(f.WriteTimeout),
		PingInterval: time.Duration(f.PingInterval), StoreTimeout: time.Duration(f.StoreTimeout),
		LoginFailures: f.LoginFailures.rate(), Dials: f.Dials.rate(), AllDials: f.AllDials.rate(), Logins: f.Logins.rate(),
		Pairs: f.Pairs.rate(), AllPairs: f.AllPairs.rate(),
		Opens: f.Opens.rate(), IdentityOpens: f.IdentityOpens.rate(), AddressOpens: f.AddressOpens.rate(), AllOpens: f.AllOpens.rate(),
		Controls: f.Controls.rate(), Bytes: bytes,
	}
}

// readConfig reads a configuration strictly. An error names the file and the line.
func readConfig(path string) (configFile, error) {
	var file configFile
	data, err := readBounded(path)
	if err != nil {
		return file, err
	}
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&file); err != nil {
		return file, fmt.Errorf("%s%w", path, explainTOML(err))
	}
	return file, nil
}

// configPage explains every key.
const configPage = "https://github.com/scorel/scorel/blob/main/docs/relay-configuration.md"

// explainTOML converts an error of the decoder to ":LINE: what is wrong".
func explainTOML(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf(":%d: unknown key %q; the keys are in %s", line, strings.Join(first.Key(), "."), configPage)
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		text := strings.TrimPrefix(wrong.Error(), "toml: ")
		if strings.HasPrefix(text, "cannot decode TOML") { // the rest names Go types
			text = fmt.Sprintf("%s has a value of the wrong type; see %s", strings.Join(wrong.Key(), "."), configPage)
		}
		return fmt.Errorf(":%d: %s", line, text)
	}
	return fmt.Errorf(": %w", err)
}

// ParseProxy reads an address or a network.
func ParseProxy(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("%q is not an address or network, such as 10.0.0.0/8", text)
	}
	return prefix, nil
}

// proxy is a prefix that is parsed by ParseProxy.
type proxy struct{ prefix netip.Prefix }

func (p *proxy) UnmarshalText(text []byte) (err error) {
	p.prefix, err = ParseProxy(string(text))
	return err
}

// duration is a time such as "90s".
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil || value <= 0 {
		return fmt.Errorf("%q is not a duration, such as \"90s\" or \"10ms\"", text)
	}
	*d = duration(value)
	return nil
}

// size is a number of bytes, written as in "64MiB", or "0".
type size int64

func (s *size) UnmarshalText(text []byte) error {
	units := []struct {
		name string
		size float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"", 1}}
	for _, unit := range units {
		digits, ok := strings.CutSuffix(strings.TrimSpace(string(text)), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || n < 0 || n*unit.size > math.MaxInt64/2 {
			break
		}
		*s = size(n * unit.size)
		return nil
	}
	return fmt.Errorf("%q is not a size, such as \"512MiB\" or \"2GiB\"", text)
}
