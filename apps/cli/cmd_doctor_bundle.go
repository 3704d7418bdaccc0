package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/cli/internal/logfile"
	"github.com/scorel/scorel/apps/cli/internal/redact"
	"github.com/scorel/scorel/apps/cli/internal/service"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/atomicfile"
)

// Bounds of a bundle.
const (
	bundleLines = 300     // of each log
	maxState    = 4 << 20 // of a file of the home, to look for names in
)

// bundle is what a person sends along with a report: no names, paths, addresses, keys or prompts.
type bundle struct {
	getenv func(string) string
	home   string
	hide   *redact.Redactor
	text   strings.Builder
}

// writeBundle shows a bundle, and writes it to a file if the person agrees.
func writeBundle(ctx context.Context, con console, env *environment, path string, yes bool, relay, device string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return usagef("%s is there already: name another file", printable(path))
	case !errors.Is(err, fs.ErrNotExist):
		return usagef("%s cannot be written (%v): name another file", printable(path), reason(err))
	}
	home, err := env.home()
	if err != nil {
		return err
	}
	b := &bundle{getenv: env.getenv, home: home, hide: redact.New(home, privateTexts(env, home))}
	b.versions()
	b.diagnosis(ctx, relay, device)
	b.settings()
	for _, name := range []string{hostLogName, relayLogName} {
		b.log(name, filepath.Join(home, name))
	}
	if _, log, ok := service.SystemRelay(); ok {
		b.systemLog(log)
	}
	if _, err := fmt.Fprint(con.stdout, b.text.String()); err != nil {
		return err
	}
	if !yes {
		if !terminal.IsTerminal(con.stdin) {
			return sayf(errRefused, "nothing was written: read what is above, and give --yes to write it to %s", printable(path))
		}
		if ok, err := terminal.NewAsker(con.stdin, con.stderr).Ask(ctx, "write this to "+printable(path)+"?"); err != nil || !ok {
			return errors.Join(err, sayf(errRefused, "nothing was written"))
		}
	}
	if err := atomicfile.Write(path, []byte(b.text.String()), 0o600); err != nil {
		return sayf(err, "%s cannot be written (%v): name another file", printable(path), reason(err))
	}
	fmt.Fprintf(con.stderr, "scorel: written to %s\n", printable(path))
	return nil
}

// privateTexts returns what must not be in a bundle: whatever the files of the home name, this machine
// and its user, and the values of variables that hold secrets.
func privateTexts(env *environment, home string) (known []string) {
	files, _ := filepath.Glob(filepath.Join(home, "*.json")) // the pattern is valid
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= maxState {
			data, err := os.ReadFile(file)
			if err == nil { // what cannot be read is not shown either
				known = append(known, redact.Strings(data)...)
			}
		}
	}
	if config, err := readConfig(home); err == nil {
		if document, err := json.Marshal(config); err == nil {
			known = append(known, redact.Strings(document)...)
		}
	}
	for _, name := range append(host.SecretVariables(home, env.getenv), "SCOREL_INVITE") {
		known = append(known, env.getenv(name))
	}
	if name, err := os.Hostname(); err == nil {
		known = append(known, name)
	}
	if me, err := user.Current(); err == nil && me.Username != "root" {
		known = append(known, me.Username, me.Name)
	}
	return append(known, machineLabel())
}

// readConfig reads config.toml as it is written.
func readConfig(home string) (config map[string]any, err error) {
	data, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err == nil && len(data) > maxState {
		err = errors.New("config.toml is too large")
	}
	if err == nil {
		err = toml.Unmarshal(data, &config)
	}
	return config, err
}

func (b *bundle) heading(text string) { fmt.Fprintf(&b.text, "\n== %s\n", text) }

func (b *bundle) versions() {
	fmt.Fprintf(&b.text, "%s\nmade %s\n", versionLine(), time.Now().UTC().Format(time.RFC3339))
	fmt.Fprintf(&b.text, "processors %d\n", runtime.NumCPU())
	state, err := host.ReadState(b.home)
	switch {
	case err == nil:
		fmt.Fprintf(&b.text, "host runs, version %s, since %s, relays %d\n", printable(state.Version), time.UnixMilli(state.StartedAt).UTC().Format(time.RFC3339), len(state.Relays))
	case errors.Is(err, host.ErrNoHost):
		b.text.WriteString("no host runs\n")
	default:
		fmt.Fprintf(&b.text, "host: %s\n", b.hide.Text(sentence(err)))
	}
}

// diagnosis runs the doctor. Details are left out: names of steps and findings say what is wrong.
func (b *bundle) diagnosis(ctx context.Context, relay, device string) {
	b.heading("doctor")
	var out bytes.Buffer
	env := &environment{getenv: b.getenv, homeFlag: b.home}
	err := (&checkup{env: env, stdout: &out, relayURL: relay, device: device, asJSON: true}).run(ctx)
	numbers := map[string]int{}
	number := func(kind, name string) string {
		if name == "" {
			return ""
		}
		if numbers[kind+name] == 0 {
			numbers[kind]++
			numbers[kind+name] = numbers[kind]
		}
		return fmt.Sprintf(" %s-%d", kind, numbers[kind+name])
	}
	for line := range bytes.Lines(out.Bytes()) {
		var step struct {
			doctor.Report
			RelayURL, DeviceID, Path string
		}
		if json.Unmarshal(line, &step) != nil {
			continue
		}
		fmt.Fprintf(&b.text, "%s%s%s %s %s %s %.0f ms\n", step.Path, number("relay", step.RelayURL), number("device", step.DeviceID), step.Name, step.Status, step.Finding, step.DurationMs)
	}
	if err != nil {
		fmt.Fprintf(&b.text, "exit code %d\n", exitCode(err))
	}
}

func (b *bundle) settings() {
	b.heading("config.toml")
	config, err := readConfig(b.home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.text.WriteString("none\n")
		return
	case err != nil:
		b.text.WriteString("cannot be read\n")
		return
	}
	for _, line := range redact.Settings(config) {
		b.text.WriteString(line + "\n")
	}
}

// frame is a line of a stack trace that names a function or a place in the source.
var frame = regexp.MustCompile(`^(?:goroutine \d+|fatal error|panic|[\w/\-]+\.[\w.*()]+\(|\t\S*?([\w.-]+\.go:\d+))`)

// systemLog adds the log of a relay that is a service of the system, if this machine has one.
func (b *bundle) systemLog(path string) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		b.log("relay.log of the system service", path)
	}
}

func (b *bundle) log(name, path string) {
	b.heading(name)
	lines, err := logfile.NewReader(path).Next()
	if errors.Is(err, fs.ErrPermission) {
		b.text.WriteString("cannot be read by this user\n")
		return
	}
	if err != nil {
		b.text.WriteString("cannot be read\n")
		return
	}
	for _, text := range lines[max(0, len(lines)-bundleLines):] {
		b.text.WriteString(b.logLine(logfile.Parse(text)) + "\n")
	}
}

// logLine keeps a message, the names of what it is about, and how an error begins.
func (b *bundle) logLine(line logfile.Line) string {
	if line.Time == "" { // of a crash
		found := frame.FindStringSubmatch(line.Message)
		switch {
		case found == nil:
			return "[text]"
		case found[1] != "":
			return "\t" + found[1]
		}
		return b.hide.Text(strings.TrimSuffix(found[0], "("))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %s", line.Time, line.Level, b.hide.Text(line.Message))
	for _, key := range slices.Sorted(maps.Keys(line.Fields)) {
		value := "[text]"
		if key == "error" || number(line.Fields[key]) {
			value = b.hide.Text(line.Fields[key])
		}
		fmt.Fprintf(&out, " %s=%s", key, value)
	}
	return out.String()
}

// number reports whether a value is a number, a duration or a switch.
func number(text string) bool {
	if text == "true" || text == "false" {
		return true
	}
	_, err := time.ParseDuration(text)
	return err == nil || text != "" && len(text) < 12 && strings.Trim(text, "0123456789.") == ""
}
