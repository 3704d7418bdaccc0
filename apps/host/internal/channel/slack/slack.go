// Package slack is a Slack app as a channel.Platform: Socket Mode for what arrives, so that
// nothing has to be reachable from outside, and the Web API for the rest.
//
// The requests and blocks are those of slack-go. Its client of Socket Mode is not used: it
// connects again by itself, without saying why a connection failed, and one of its goroutines
// outlives it. Here an envelope is acknowledged after Take returned; what is not
// acknowledged, Slack sends again.
//
// Slack gives up after a few minutes. So after each connection, what was written meanwhile is
// read from the history of the chats in which the bot was addressed.
//
// Text is sent as rich text blocks, in which no character means anything.
package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/restapi"
)

// What Slack allows.
const (
	// Characters of the blocks of a message. The text of a section may have 3000; Slack does
	// not document a limit for rich text, of which this keeps below.
	maxText  = 3000
	maxPlain = 1000 // characters of the text that notifications show
	maxLabel = 75   // characters of a button's label
)

// Options configure an app.
type Options struct {
	Token    string // of the bot, "xoxb-..."
	AppToken string // of the app, with the scope connections:write, "xapp-..."
	// API is the address of the Web API; "" is Slack's.
	API string
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Platform is the bot of an app.
type Platform struct {
	options Options
	api     *slack.Client // with the bot's token
	app     *slack.Client // with the app's token
	http    *http.Client
}

var _ channel.Platform = (*Platform)(nil)

// New makes a bot without a request.
func New(o Options) (*Platform, error) {
	o.API = strings.TrimRight(cmp.Or(o.API, "https://slack.com/api"), "/")
	if err := channel.CheckEndpoint(o.API); err != nil {
		return nil, err
	}
	for _, token := range []struct{ value, prefix, name string }{{o.Token, "xoxb-", "the bot"}, {o.AppToken, "xapp-", "the app"}} {
		if !strings.HasPrefix(token.value, token.prefix) || len(token.value) > 512 || strings.ContainsFunc(token.value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("%w: the token of %s begins with %s", channel.ErrUnauthorized, token.name, token.prefix)
		}
	}
	p := &Platform{options: o, http: restapi.HTTPClient(o.Transport)}
	p.api = slack.New(o.Token, slack.OptionAPIURL(o.API+"/"), slack.OptionHTTPClient(p.http))
	p.app = slack.New(o.Token, slack.OptionAppLevelToken(o.AppToken), slack.OptionAPIURL(o.API+"/"), slack.OptionHTTPClient(p.http))
	return p, nil
}

// Limits implements channel.Platform. One message per second and chat is allowed.
func (p *Platform) Limits() channel.Limits {
	return channel.Limits{
		Text: maxText, Units: units, Every: 1100 * time.Millisecond, EditEvery: 3 * time.Second,
		File: channel.MaxFile, Edits: true, Buttons: true,
	}
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (channel.Identity, error) {
	me, err := p.api.AuthTestContext(ctx)
	if err != nil {
		return channel.Identity{}, p.explain("asking who the bot is", err)
	}
	return channel.Identity{ID: me.UserID, Name: "@" + me.User}, nil
}

// Send implements channel.Platform.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	place, thread, _ := strings.Cut(chatID, "/")
	if m.File != nil {
		return p.sendFile(ctx, place, thread, m.File)
	}
	options := append(content(m), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, sent, err := p.api.PostMessageContext(ctx, place, options...)
	return sent, p.explain("sending a message", err)
}

// sendFile returns the id of the file: Slack does not say which message shows it, and it is
// never edited.
func (p *Platform) sendFile(ctx context.Context, place, thread string, file *channel.Upload) (string, error) {
	data, err := file.Open()
	if err != nil {
		return "", fmt.Errorf("slack: opening a file: %w", err)
	}
	defer func() { _ = data.Close() }()
	sent, err := p.api.UploadFileContext(ctx, slack.UploadFileParameters{
		Reader: data, FileSize: int(file.Size), Filename: cmp.Or(channel.CleanName(file.Name), "file"), Channel: place, ThreadTimestamp: thread,
	})
	if err != nil {
		return "", p.explain("sending a file", err)
	}
	return sent.ID, nil
}

// Edit implements channel.Platform.
func (p *Platform) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	place, _, _ := strings.Cut(chatID, "/")
	_, _, _, err := p.api.UpdateMessageContext(ctx, place, messageID, content(m)...)
	return p.explain("editing a message", err)
}

// Fetch implements channel.Platform.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	file, _, _, err := p.api.GetFileInfoContext(ctx, f.Ref, 0, 0)
	if err != nil {
		return nil, p.explain("asking for a file", err)
	}
	if err := p.checkFile(file.URLPrivateDownload); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, file.URLPrivateDownload, nil)
	if err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+p.options.Token)
	response, err := p.http.Do(request)
	if err != nil {
		return nil, p.explain("reading a file", err)
	}
	// Without the scope files:read, Slack answers with the page of its login.
	page := strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") && file.Mimetype != "text/html"
	if response.StatusCode != http.StatusOK || page {
		_ = response.Body.Close()
		return nil, fmt.Errorf("slack: reading a file: HTTP %d; the app needs the scope files:read", response.StatusCode)
	}
	return response.Body, nil
}

// checkFile returns an error for an address that the token may not be sent to.
func (p *Platform) checkFile(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "https" && (u.Host == "files.slack.com" || strings.HasSuffix(u.Host, ".slack.com")) {
		return nil
	}
	if strings.HasPrefix(address, strings.TrimSuffix(p.options.API, "/api")+"/") {
		return nil
	}
	return fmt.Errorf("slack: %w: a file is at an unexpected address", channel.ErrRejected)
}

// Answer implements channel.Platform. The acknowledgement of the press has ended its spinner.
func (p *Platform) Answer(ctx context.Context, press channel.Press, notice string) error {
	if notice == "" {
		return nil
	}
	place, thread, _ := strings.Cut(press.Chat.ID, "/")
	options := content(channel.Outgoing{Text: channel.Text(channel.Cut(notice, maxText/4))})
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, err := p.api.PostEphemeralContext(ctx, place, press.From.ID, options...)
	return p.explain("answering a press", err)
}

// explain translates an error of the Web API.
func (p *Platform) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	var limited *slack.RateLimitedError
	if errors.As(err, &limited) {
		return &channel.RateLimited{After: max(time.Second, min(limited.RetryAfter, 24*time.Hour))}
	}
	var said slack.SlackErrorResponse
	if errors.As(err, &said) {
		switch said.Err {
		case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type":
			err = fmt.Errorf("%w (%s)", channel.ErrUnauthorized, said.Err)
		case "channel_not_found", "not_in_channel", "is_archived", "is_inactive", "user_not_in_channel", "restricted_action", "thread_not_found", "channel_type_not_supported":
			err = fmt.Errorf("%w (%s)", channel.ErrChatGone, said.Err)
		case "message_not_found", "cant_update_message", "edit_window_closed":
			err = fmt.Errorf("%w (%s)", channel.ErrMessageGone, said.Err)
		case "msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "file_not_found":
			err = fmt.Errorf("%w (%s)", channel.ErrRejected, said.Err)
		case "missing_scope":
			err = fmt.Errorf("the app lacks the scope %s: add it under OAuth & Permissions and install the app again", cmp.Or(said.Needed, "that this needs"))
		}
	}
	return fmt.Errorf("slack: %s: %w", what, channel.Redact(channel.Redact(err, p.options.Token), p.options.AppToken))
}
