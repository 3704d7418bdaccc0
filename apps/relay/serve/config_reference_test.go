package serve

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
)

var update = flag.Bool("update", false, "write docs/relay-configuration.md")

const reference = "../../../docs/relay-configuration.md"

// meanings says what each setting of relay.toml does, and which flag of "scorel relay serve"
// overrides it. The reference has the settings from the types that the file is decoded into, so
// that none can be missing.
var meanings = map[string]struct{ flag, meaning string }{
	"public_urls":     {"public-url", "every address at which people reach the relay, with its scheme; without one, only this machine can connect"},
	"allowed_origins": {"allowed-origin", "origins of pages hosted elsewhere that may connect"},
	"trusted_proxies": {"trusted-proxy", "addresses or networks of proxies whose `X-Forwarded-For` is trusted"},
	"admission":       {"admission", "`open` (default), `invite` or `allow-list`, see [Admission](operations.md#admission)"},
	"allow":           {"allow", "ids to admit; listing one selects `allow-list`"},
	"allow_file":      {"allow-file", "file with ids to admit, one per line, `#` before a comment"},
	"memory":          {"memory", "memory of queues, read buffers and connections together; default half of the memory of the machine or container, see [Memory](operations.md#limits)"},
	"nodes":           {"nodes", "number of relays that share the store, for the check that pairing codes cannot be guessed; default 1, with a bus 32"},
	"proxy_protocol":  {"proxy-protocol", "whether trusted proxies begin each connection with a PROXY header, version 1 or 2; default false. Read at the start only"},
	"metrics_listen":  {"metrics-listen", "separate address for `/metrics`; without it, the relay's own, for requests from this machine. Read at the start only"},

	"limits.connections":                    {"", "open connections"},
	"limits.connections_per_address":        {"", "open connections of one address other than the machine itself"},
	"limits.connections_per_entry":          {"", "open connections of one client, such as tabs"},
	"limits.channels_per_entry":             {"", "open channels of one connection of a client"},
	"limits.channels_per_host":              {"", "open channels of one connection of a host"},
	"limits.channel_queue":                  {"", "bytes of one channel that wait for a receiver"},
	"limits.queue":                          {"", "bytes of all channels that wait for one connection"},
	"limits.login_timeout":                  {"", "time from the connection to the end of the login"},
	"limits.pair_timeout":                   {"", "life of a pairing code"},
	"limits.write_timeout":                  {"", "time of one write to the network"},
	"limits.ping_interval":                  {"", "mean time between pings; a dead peer is found within 3.6 of them"},
	"limits.store_timeout":                  {"", "time of one call of the store"},
	"limits.login_failures_per_address":     {"", "failed logins and wrong invites"},
	"limits.logins_per_address":             {"", "attempted logins, except those of the machine itself"},
	"limits.logins_per_identity":            {"", "logins of one id"},
	"limits.logins":                         {"", "attempted logins in total"},
	"limits.pairs_per_address_and_identity": {"", "pairing codes created and redeemed, for each of the two"},
	"limits.pairs":                          {"", "pairing codes created and redeemed in total"},
	"limits.channels_per_connection":        {"", "channels opened by one connection"},
	"limits.channels_per_identity":          {"", "channels opened by one id"},
	"limits.channels_per_address":           {"", "channels opened from one address, except the machine itself"},
	"limits.channels":                       {"", "channels opened in total"},
	"limits.frames_per_connection":          {"", "control frames, pings and pongs of one connection"},
	"limits.bytes_per_connection":           {"", "bytes per second that one connection sends"},
	"limits.bytes_per_identity":             {"", "bytes per second that one id sends; 0 means no limit"},
	"limits.bytes_per_address":              {"", "bytes per second that one address sends"},
	"limits.bytes":                          {"", "bytes per second in total"},
}

const referenceHead = "# relay.toml\n\n" +
	"This page lists every setting of the file that `scorel relay serve --config` reads, for operators of a relay. It is\n" +
	"generated from the types that the file is read into, and from the defaults of the relay. Unknown settings and values of\n" +
	"the wrong type are errors. A flag replaces the setting beside it. SIGHUP reads the file again\n" +
	"([Upgrade](operations.md#upgrade)). Flags without a setting are in [Commands](cli.md#scorel-relay-serve). The variables\n" +
	"`SCOREL_RELAY_STORE` and `SCOREL_RELAY_BUS` hold addresses with passwords, so they have no setting.\n" +
	"[Limits](operations.md#limits) explains what happens at a limit.\n\n" +
	"| setting | flag | type | meaning |\n|---|---|---|---|\n"

const limitsHead = "\n## `[limits]`\n\n" +
	"An address is an IPv4 address or a /64 of IPv6. A rate is `{ burst = 600, every = \"100ms\" }`: this many at once, then\n" +
	"one per interval. Rates of bytes allow bursts of two seconds' worth and are at least 1 MiB, or 0 for no limit. A size\n" +
	"is a text such as `\"64MiB\"`, a time one such as `\"90s\"`. All limits count per node.\n\n" +
	"| setting | type | default | meaning |\n|---|---|---|---|\n"

// TestReferenceOfTheRelayIsFresh: docs/relay-configuration.md lists every setting of a relay. Run
// `go test . -run Reference -update` in this folder to write it.
func TestReferenceOfTheRelayIsFresh(t *testing.T) {
	used := map[string]bool{}
	meaning := func(key string) (flag, text string) {
		used[key] = true
		if meanings[key].meaning == "" {
			t.Errorf("say in meanings what %s does", key)
		}
		return meanings[key].flag, meanings[key].meaning
	}
	var text strings.Builder
	text.WriteString(referenceHead)
	for field := range reflect.TypeFor[configFile]().Fields() {
		if key := field.Tag.Get("toml"); key != "limits" {
			flag, about := meaning(key)
			fmt.Fprintf(&text, "| `%s` | `--%s` | %s | %s |\n", key, flag, nameOf(field.Type), about)
		}
	}
	text.WriteString(limitsHead)
	for field := range reflect.TypeFor[limitsFile]().Fields() {
		_, about := meaning("limits." + field.Tag.Get("toml"))
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", field.Tag.Get("toml"), nameOf(field.Type), defaultOf(t, field), about)
	}
	for key := range meanings {
		if !used[key] {
			t.Errorf("relay.toml has no setting %s", key)
		}
	}
	if *update {
		if err := os.WriteFile(reference, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(reference); err != nil || string(got) != text.String() {
		t.Errorf("docs/relay-configuration.md is stale (%v): run `go test . -run Reference -update` in apps/relay/serve", err)
	}
}

// TestReferenceNamesFlags: a flag of the reference is one of `scorel relay serve`, and each of the
// flags that both commands share is in the list of commands.
func TestReferenceNamesFlags(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## scorel relay serve\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for key, of := range meanings {
		if of.flag != "" && !strings.Contains(section, " --"+of.flag+" ") {
			t.Errorf("%s names the flag --%s, which docs/cli.md does not have", key, of.flag)
		}
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	new(Guard).AddFlags(flags)
	new(Options).AddFlags(flags)
	flags.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(section, " --"+f.Name+" ") {
			t.Errorf("docs/cli.md lacks the flag --%s", f.Name)
		}
	})
}

// nameOf returns the name of a type of relay.toml.
func nameOf(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[size](), reflect.TypeFor[*size]():
		return "size"
	case reflect.TypeFor[duration]():
		return "time"
	case reflect.TypeFor[rateFile]():
		return "rate"
	case reflect.TypeFor[proxy]():
		return "string"
	}
	switch typ.Kind() {
	case reflect.Slice:
		return nameOf(typ.Elem()) + "s"
	case reflect.Int:
		return "integer"
	case reflect.Bool:
		return "boolean"
	}
	return typ.String()
}

// defaultOf returns the default of a limit: that of the field of relay.Limits which the setting
// changes.
func defaultOf(t *testing.T, field reflect.StructField) string {
	t.Helper()
	var file limitsFile
	set := reflect.ValueOf(&file).Elem().FieldByIndex(field.Index)
	switch of := set.Addr().Interface().(type) {
	case *int:
		*of = 7
	case *size:
		*of = 7
	case **size:
		*of = new(size)
	case *duration:
		*of = 7
	case *rateFile:
		*of = rateFile{7, 7}
	default:
		t.Fatalf("no default is known for the type %s", field.Type)
	}
	unset := limitsFile{}.limits()
	value := changed(reflect.ValueOf(unset), reflect.ValueOf(file.limits()), reflect.ValueOf(unset.WithDefaults()))
	if !value.IsValid() {
		t.Fatalf("%s changes no limit of the relay", field.Tag.Get("toml"))
	}
	return shown(value.Interface(), strings.HasPrefix(field.Tag.Get("toml"), "bytes"))
}

// changed returns the field of defaults at the place where two structs differ.
func changed(before, after, defaults reflect.Value) reflect.Value {
	for i := range before.NumField() {
		if before.Field(i).Interface() == after.Field(i).Interface() {
			continue
		}
		if before.Field(i).Type() == reflect.TypeFor[relay.ByteRates]() {
			return changed(before.Field(i), after.Field(i), defaults.Field(i))
		}
		return defaults.Field(i)
	}
	return reflect.Value{}
}

// shown formats a limit for people.
func shown(value any, perSecond bool) string {
	switch v := value.(type) {
	case relay.Rate:
		return fmt.Sprintf("%s, then one per %s", shown(v.Burst, false), shown(v.Every, false))
	case time.Duration:
		text := strings.Replace(v.String(), "m0s", "min", 1)
		cut := strings.IndexFunc(text, func(r rune) bool { return r > '9' })
		return text[:cut] + " " + text[cut:]
	case int64:
		return shown(int(v), perSecond)
	case int:
		switch {
		case v == 0 && perSecond:
			return "no limit"
		case v >= 1<<20 && v%(1<<20) == 0:
			return fmt.Sprintf("%d MiB", v>>20)
		case v >= 10_000:
			return fmt.Sprintf("%d %03d", v/1000, v%1000)
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprint(value)
}
