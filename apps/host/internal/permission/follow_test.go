package permission

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestRedirectsKeepTheRules: redirects are bound by the same rules and mode as the call.
func TestRedirectsKeepTheRules(t *testing.T) {
	parse := func(texts ...string) []Rule {
		rules, err := ParseRules(texts, testTools())
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	example, evil := parse("fetch_url(domain:example.com)"), parse("fetch_url(domain:*.evil.org)")
	for _, c := range []struct {
		name  string
		mode  api.Mode
		rules Rules
		only  []Rule
		to    string
		want  Action
	}{
		{"the same host", api.ModeAsk, Rules{Allow: example}, nil, "https://example.com/b", Allow},
		{"the same host that a person allowed", api.ModeAsk, Rules{}, nil, "https://EXAMPLE.com/b", Allow},
		{"another host", api.ModeAsk, Rules{Allow: example}, nil, "https://example.org/", Deny},
		{"a host below", api.ModeAsk, Rules{Allow: example}, nil, "https://www.example.com/", Deny},
		{"another host that a rule allows", api.ModeAsk, Rules{Allow: parse("fetch_url(domain:example.org)")}, nil, "https://example.org/", Allow},
		{"every host", api.ModeAsk, Rules{Allow: parse("fetch_url")}, nil, "https://example.org/", Allow},
		{"a host that a rule denies", api.ModeAuto, Rules{Deny: evil}, nil, "https://a.evil.org/", Deny},
		{"a host that a rule denies, in bypass", api.ModeBypass, Rules{Deny: evil}, nil, "https://a.evil.org/", Deny},
		{"the same host, denied since", api.ModeAsk, Rules{Deny: example}, nil, "https://example.com/b", Deny},
		{"a host that a rule asks about", api.ModeAuto, Rules{Ask: evil}, nil, "https://a.evil.org/", Deny},
		{"the mode auto", api.ModeAuto, Rules{}, nil, "https://example.org/", Allow},
		{"the mode plan", api.ModePlan, Rules{}, nil, "https://example.org/", Deny},
		{"an agent that may use one host", api.ModeAuto, Rules{}, example, "https://example.org/", Deny},
		{"no address", api.ModeAsk, Rules{}, nil, ":", Deny},
	} {
		p := testPolicy(t, c.mode)
		p.Rules, p.Only = c.rules, c.only
		v := p.Follow("fetch_url", "https://example.com/a", c.to)
		if v.Action != c.want || v.Reason == "" {
			t.Errorf("%s: %+v, want %v", c.name, v, c.want)
		}
		if c.name == "another host" && !strings.Contains(v.Reason, "call that address directly") {
			t.Errorf("it does not say what to do: %q", v.Reason)
		}
	}
}
