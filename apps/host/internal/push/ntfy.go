package push

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Ntfy sends to topics of ntfy servers and to UnifiedPush endpoints. The server can read it.
type Ntfy struct {
	HTTP Clients
}

var _ Channel = (*Ntfy)(nil)

// Kind implements Channel.
func (*Ntfy) Kind() api.PushKind { return api.PushNtfy }

// Check implements Channel.
func (*Ntfy) Check(a Address) error {
	u, err := checkURL(a)
	if err != nil {
		return api.Errorf(api.KindBadRequest, "the ntfy address cannot be used: %s. Addresses of a local network can only be added on the machine itself", err)
	}
	if strings.Trim(u.Path, "/") == "" {
		return api.Errorf(api.KindBadRequest, "the ntfy address has no topic: use one such as https://ntfy.sh/your-topic")
	}
	if a.P256dh != "" || a.Auth != "" {
		return api.Errorf(api.KindBadRequest, "p256dh and auth belong to subscriptions of browsers: leave them out")
	}
	return checkPage(a.Page)
}

// checkPage returns why an address of the web UI cannot be opened from a notification.
func checkPage(page string) error {
	if page == "" {
		return nil
	}
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return api.Errorf(api.KindBadRequest, "the page is not an address of the web UI: use one such as https://scorel.example.com")
	}
	return nil
}

// Server implements Channel. The topic is a secret.
func (*Ntfy) Server(a Address) string { return serverOf(a) }

// Send implements Channel. A notification that is gone stays: not all servers can take one
// back.
func (n *Ntfy) Send(ctx context.Context, to Address, message Message) Result {
	if message.Gone || message.Quiet {
		return Result{}
	}
	if err := n.Check(to); err != nil {
		return Result{Err: err}
	}
	priority := "default"
	if message.Urgent {
		priority = "high"
	}
	header := http.Header{
		"Content-Type": {"text/plain; charset=utf-8"}, "Title": {mime.BEncoding.Encode("utf-8", message.Title)}, "Priority": {priority},
	}
	if to.Page != "" && message.Session != "" {
		link := strings.TrimRight(to.Page, "/") + "/d/" + url.PathEscape(message.Device) + "/s/" + url.PathEscape(message.Session)
		header["Click"], header["Actions"] = []string{link}, []string{"view, Open, " + link}
	}
	body := message.Text
	if body == "" {
		body = message.Title
	}
	return n.HTTP.post(ctx, to, []byte(Cut(body, MaxBytes)), header)
}
