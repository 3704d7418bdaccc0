// Package platforms lists the chat platforms that scorel has built in. A new one is a line
// in Kinds.
package platforms

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/discord"
	"github.com/scorel/scorel/apps/host/internal/channel/qq"
	"github.com/scorel/scorel/apps/host/internal/channel/slack"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook"
)

// MCP is the platform of channel servers that others wrote. Only a host can open it.
const MCP = "mcp"

// MaxSetting is the longest value of a setting, in bytes.
const MaxSetting = 2048

// Setting is what a person has to say to add a channel.
type Setting struct {
	Name     string // such as "token", and the flag of `scorel channel add`
	Usage    string // a few words for a person
	Secret   bool   // kept with the secrets of the home, and never shown
	Optional bool
	Server   bool // the address of a server to which the platform connects
}

// Kind is a platform.
type Kind struct {
	Name     string // as people type it
	Title    string // as the platform calls itself
	Settings []Setting
	// Outside means that only the word of another program says who writes.
	Outside bool
	// New makes a platform from settings, which connects by a transport; nil is the usual one. It
	// makes no request.
	New func(settings map[string]string, via http.RoundTripper) (channel.Platform, error)
}

// Kinds lists the platforms in the order in which people are shown them.
func Kinds() []Kind {
	api := Setting{Name: "api", Usage: "address of the API, for a server of your own", Optional: true, Server: true}
	return []Kind{
		{
			Name: "telegram", Title: "Telegram",
			Settings: []Setting{{Name: "token", Usage: "token of the bot, from @BotFather", Secret: true}, api},
			New: func(s map[string]string, via http.RoundTripper) (channel.Platform, error) {
				return telegram.New(telegram.Options{Token: s["token"], API: s["api"], Transport: via})
			},
		},
		{
			Name: "slack", Title: "Slack",
			Settings: []Setting{
				{Name: "token", Usage: "token of the bot, which begins with xoxb-", Secret: true},
				{Name: "app-token", Usage: "token of the app with connections:write, which begins with xapp-", Secret: true}, api,
			},
			New: func(s map[string]string, via http.RoundTripper) (channel.Platform, error) {
				return slack.New(slack.Options{Token: s["token"], AppToken: s["app-token"], API: s["api"], Transport: via})
			},
		},
		{
			Name: "discord", Title: "Discord",
			Settings: []Setting{{Name: "token", Usage: "token of the bot, from the developer portal", Secret: true}, api},
			New: func(s map[string]string, via http.RoundTripper) (channel.Platform, error) {
				return discord.New(discord.Options{Token: s["token"], API: s["api"], Transport: via})
			},
		},
		{
			Name: "qq", Title: "QQ",
			Settings: []Setting{
				{Name: "app-id", Usage: "number of the bot on the QQ open platform"},
				{Name: "secret", Usage: "secret of the bot", Secret: true}, api,
			},
			New: func(s map[string]string, via http.RoundTripper) (channel.Platform, error) {
				return qq.New(qq.Options{AppID: s["app-id"], Secret: s["secret"], API: s["api"], Transport: via})
			},
		},
		{
			Name: "webhook", Title: "Webhook",
			Settings: []Setting{
				{Name: "url", Usage: "address of your server, which scorel dials", Server: true},
				{Name: "secret", Usage: "secret of at least 16 characters that both sides sign with", Secret: true},
			},
			New: func(s map[string]string, via http.RoundTripper) (channel.Platform, error) {
				return webhook.New(webhook.Options{URL: s["url"], Secret: s["secret"], Transport: via})
			},
		},
		{
			Name: MCP, Title: "MCP channel server", Outside: true,
			Settings: []Setting{
				{Name: "server", Usage: "name of the MCP server, as `scorel mcp list` shows it"},
				{Name: "project", Usage: "id of the project in which it runs"},
			},
			New: func(map[string]string, http.RoundTripper) (channel.Platform, error) {
				return nil, errors.New("a channel server of MCP is run by a host, and is served already")
			},
		},
	}
}

// Find returns a platform by its name.
func Find(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("unknown platform %.40q: use %s", name, strings.Join(names, ", "))
}

// Servers returns the addresses of servers that settings name.
func (k Kind) Servers(settings map[string]string) (addresses []string) {
	for _, s := range k.Settings {
		if s.Server && settings[s.Name] != "" {
			addresses = append(addresses, settings[s.Name])
		}
	}
	return addresses
}

// Open checks the settings of a platform and makes it, as New.
func (k Kind) Open(settings map[string]string, via http.RoundTripper) (channel.Platform, error) {
	if err := k.Check(settings); err != nil {
		return nil, err
	}
	return k.New(settings, via)
}

// Check returns an error for settings that are missing, unknown or malformed.
func (k Kind) Check(settings map[string]string) error {
	for name, value := range settings {
		known := slices.ContainsFunc(k.Settings, func(s Setting) bool { return s.Name == name })
		switch {
		case !known:
			return fmt.Errorf("%s has no setting %.40q", k.Title, name)
		case len(value) > MaxSetting || strings.ContainsAny(value, "\r\n\x00"):
			return fmt.Errorf("the setting %s is too long or has a line break", name)
		}
	}
	for _, s := range k.Settings {
		if settings[s.Name] == "" && !s.Optional {
			return fmt.Errorf("%s needs the setting %s: %s", k.Title, s.Name, s.Usage)
		}
	}
	return nil
}
