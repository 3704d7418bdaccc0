package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestPrintable(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain ünïcode", "plain ünïcode"},
		{"\x1b[31mred\x07", `\x1b[31mred\x07`},
		{"rm\rls", `rm\x0dls`},
		{"a\u202eb", `a\x202eb`},
		{"two\nlines", `two\x0alines`},
	}
	for _, test := range tests {
		if got := printable(test.in); got != test.want {
			t.Errorf("printable(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	if got := printableLines("a\tb\nc\x1b"); got != "a\tb\nc\\x1b" {
		t.Errorf("printableLines: %q", got)
	}
}

func TestClip(t *testing.T) {
	if got := clip("  a \n b  ", 10); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := clip("äöüß", 3); got != "äö…" {
		t.Errorf("got %q", got)
	}
}

func TestCleanLabel(t *testing.T) {
	for _, name := range []string{"box", "bo\x00x\n", strings.Repeat("ä", 100), "bad\xffutf8"} {
		label := cleanLabel(name + " (terminal)")
		if !utf8.ValidString(label) || len(label) > wire.MaxLabel || label == "" || strings.ContainsAny(label, "\x00\n") {
			t.Errorf("cleanLabel(%q) = %q", name, label)
		}
	}
}

func TestBaseURL(t *testing.T) {
	tests := []struct {
		addr     string
		url      string
		loopback bool
	}{
		{"127.0.0.1:7410", "http://127.0.0.1:7410", true},
		{"[::1]:7410", "http://[::1]:7410", true},
		{"0.0.0.0:80", "http://127.0.0.1:80", false},
		{"[::]:80", "http://127.0.0.1:80", false},
		{"192.168.1.5:7410", "http://192.168.1.5:7410", false},
	}
	for _, test := range tests {
		addr, err := net.ResolveTCPAddr("tcp", test.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := baseURL(addr); got != test.url {
			t.Errorf("baseURL(%s) = %s, want %s", test.addr, got, test.url)
		}
		if got := isLoopback(addr); got != test.loopback {
			t.Errorf("isLoopback(%s) = %t", test.addr, got)
		}
	}
}

func TestParseProxies(t *testing.T) {
	got, err := parseProxies([]string{"10.0.0.0/8", "192.168.1.1", "::1"})
	if err != nil || fmt.Sprint(got) != "[10.0.0.0/8 192.168.1.1/32 ::1/128]" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseProxies([]string{"proxy.example"}); exitCode(err) != ExitUsage {
		t.Errorf("got %v", err)
	}
}

func TestSameRelay(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"https://relay.example", "wss://relay.example/", true},
		{"http://127.0.0.1:7410", "http://127.0.0.1:7411", false},
		{"https://relay.example", "http://relay.example", false},
		{"http://localhost:7420", "http://127.0.0.1:7420", true},
		{"http://[::1]:7420", "http://localhost:7420", true},
		{"http://localhost:7420", "http://127.0.0.1:7421", false},
		{"nonsense", "nonsense", false},
	}
	for _, test := range tests {
		if got := sameRelay(test.a, test.b); got != test.want {
			t.Errorf("sameRelay(%s, %s) = %t", test.a, test.b, got)
		}
	}
}

// TestPrintedJSONSteersNothing: printed JSON contains nothing that controls a terminal, and
// decodes to the same value.
func TestPrintedJSONSteersNothing(t *testing.T) {
	text := "a\u009b31mb\u0085\x7f\u202ec\u2066d\x1b[0m\x07 ünïcode \u2028\t\n"
	var line, pieces strings.Builder
	if err := printJSON(&line, map[string]string{"name": text}); err != nil {
		t.Fatal(err)
	}
	if err := printObject(&line, json.RawMessage(`{"name":"a`+"\u009b"+`31m"}`), false); err != nil {
		t.Fatal(err)
	}
	for _, r := range line.String() {
		if r != '\n' && sanitize.Steers(r) {
			t.Fatalf("%U in %q", r, line.String())
		}
	}
	if !strings.Contains(line.String(), `a\u009b31mb\u0085\u007f\u202ec\u2066d\u001b[0m`) {
		t.Errorf("got %s", line.String())
	}
	var back map[string]string
	first, _, _ := strings.Cut(line.String(), "\n")
	if err := json.Unmarshal([]byte(first), &back); err != nil || back["name"] != text {
		t.Errorf("got %q, %v", back, err)
	}
	out := &escaper{w: &pieces}
	for i := range len(text) { // byte by byte
		if _, err := out.Write([]byte(text[i : i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if got := pieces.String(); got != escaped(text) || strings.ContainsAny(got, "\u009b\u202e") {
		t.Errorf("in pieces %q", got)
	}
}

func TestFormatAgo(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		-time.Minute: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 119 * time.Minute: "1 hour ago",
		23 * time.Hour: "23 hours ago", 47 * time.Hour: "1 day ago", 400 * 24 * time.Hour: "400 days ago",
	} {
		if got := formatAgo(now.Add(-passed).UnixMilli(), now); got != want {
			t.Errorf("%s before: %q, want %q", passed, got, want)
		}
	}
	if got := formatAgo(0, now); got != "-" {
		t.Errorf("an unknown time: %q", got)
	}
}

// TestWhatAHostNamesSteersNothing: names and ids of a host do not control the terminal in the
// sentences of commands either.
func TestWhatAHostNamesSteersNothing(t *testing.T) {
	const evil = "a\x1b[2K\rb\u202e"
	var out strings.Builder
	a := &app{console: console{stdout: &out, stderr: &out}}
	for name, print := range map[string]func() error{
		"a schedule": func() error {
			return printDone(a.stdout, false, nil, "%s: %s, %d", evil, api.ScheduleRunState(evil), 1)
		},
		"a budget": func() error { return printBudget(a.stdout, false, api.Budget{Scope: evil, Source: evil}) },
		"a hook": func() error {
			return printHookTest(a.stdout, false, api.TestHookResponse{Run: api.HookRun{Outcome: evil, Text: evil}})
		},
		"notifications":      func() error { return printPushSettings(a.stdout, evilPush(evil)) },
		"a sentence's parts": func() error { return printf(&out, "%s %q %v\n", evil, evil, evil) },
	} {
		out.Reset()
		if err := print(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "a") || strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && sanitize.Steers(r) }) >= 0 {
			t.Errorf("%s prints %q", name, out.String())
		}
	}
}

func evilPush(text string) api.PushSettings {
	return api.PushSettings{
		Level: api.PushLevel(text), Quiet: &api.PushQuiet{From: text, To: text, Zone: text},
		Sessions: []api.PushSession{{SessionID: text, Level: api.PushLevel(text)}},
	}
}
