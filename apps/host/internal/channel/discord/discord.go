// Package discord is a Discord bot as a channel.Platform: the gateway for what arrives, so
// that nothing has to be reachable from outside, and the HTTP API (version 10) for the rest.
//
// The bot asks for no privileged intent. In servers, Discord shows it the text of messages
// that mention it or answer it, and nothing else.
//
// A session of the gateway is resumed after a restart. If it is too old, what was written
// meanwhile is read from the history of the chats in which the bot was addressed.
package discord

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/restapi"
)

// What Discord allows.
const (
	maxText = 2000     // characters of a message; we count UTF-16 units, which are never fewer
	maxFile = 10 << 20 // bytes of a file of a bot
	maxRow  = 5        // buttons in a row

	flagNoEmbeds = 1 << 2
	flagSilent   = 1 << 12
	flagPrivate  = 1 << 6 // only the person who pressed sees the answer
)

// Options configure a bot.
type Options struct {
	Token string
	// API is the address of the HTTP API; "" is Discord's.
	API string
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Platform is a bot.
type Platform struct {
	token string
	files string // where files may be, beside Discord's own hosts: the API of a test
	rest  restapi.Client
}

var _ channel.Platform = (*Platform)(nil)

// New makes a bot without a request.
func New(o Options) (*Platform, error) {
	api := strings.TrimRight(cmp.Or(o.API, "https://discord.com/api/v10"), "/")
	if err := channel.CheckEndpoint(api); err != nil {
		return nil, err
	}
	if o.Token == "" || len(o.Token) > 256 || strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: a token of Discord has no spaces; reset it in the developer portal to see it", channel.ErrUnauthorized)
	}
	p := &Platform{token: o.Token}
	if o.API != "" {
		p.files = api
	}
	p.rest = restapi.Client{
		Name: "discord", Base: api, Explain: explain, HTTP: restapi.HTTPClient(o.Transport),
		Authorize: func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bot "+o.Token)
			return nil
		},
	}
	return p, nil
}

// The codes of errors that mean something for a chat or message.
func explain(_ int, body []byte) error {
	var said struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(body, &said) // then the status says enough
	switch said.Code {
	case 10003, 50001, 50007, 50013, 50278, 50083, 160005: // unknown, no access, no direct messages, no permission, archived
		return channel.ErrChatGone
	case 10008, 10062, 40060, 50005: // unknown message or interaction, answered, of someone else
		return channel.ErrMessageGone
	case 40005, 50006, 50035: // too large, empty, invalid
		return channel.ErrRejected
	}
	return nil
}

// Limits implements channel.Platform. Five messages in five seconds are allowed in a chat.
func (p *Platform) Limits() channel.Limits {
	return channel.Limits{
		Text: maxText, Units: units, Every: 1100 * time.Millisecond, EditEvery: 1500 * time.Millisecond,
		File: maxFile, Edits: true, Buttons: true, Idempotent: true,
	}
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (channel.Identity, error) {
	var me user
	if err := p.rest.Call(ctx, http.MethodGet, "/users/@me", nil, &me); err != nil {
		return channel.Identity{}, err
	}
	return channel.Identity{ID: me.ID, Name: "@" + me.Username, Link: "https://discord.com/users/" + url.PathEscape(me.ID)}, nil
}

// outgoing is the body of a message. Nobody is mentioned, whatever its text says.
type outgoing struct {
	Content    string    `json:"content"`
	Components []row     `json:"components"`
	Mentions   mentions  `json:"allowed_mentions"`
	Flags      int       `json:"flags,omitempty"`
	Nonce      string    `json:"nonce,omitempty"`
	Enforce    bool      `json:"enforce_nonce,omitempty"`
	Files      []fileRef `json:"attachments,omitempty"`
}

type mentions struct {
	Parse []string `json:"parse"`
}

type fileRef struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`
}

type row struct {
	Type       int      `json:"type"`
	Components []button `json:"components"`
}

type button struct {
	Type  int    `json:"type"`
	Style int    `json:"style"`
	Label string `json:"label"`
	ID    string `json:"custom_id"`
}

func body(m channel.Outgoing) outgoing {
	out := outgoing{Content: render(m.Text), Components: []row{}, Mentions: mentions{[]string{}}, Flags: flagNoEmbeds}
	if m.Silent {
		out.Flags |= flagSilent
	}
	for i, b := range m.Buttons {
		if i%maxRow == 0 {
			out.Components = append(out.Components, row{Type: 1})
		}
		style := 2
		if b.Risky {
			style = 4
		}
		last := &out.Components[len(out.Components)-1]
		last.Components = append(last.Components, button{Type: 2, Style: style, Label: channel.Cut(b.Label, 80), ID: b.Data})
	}
	return out
}

// nonce is how Discord recognizes a message that was sent already, in at most 25 characters.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// Send implements channel.Platform. Discord recognizes a repeated message for a few minutes.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	path, err := messages(chatID)
	if err != nil {
		return "", err
	}
	out := body(m)
	out.Nonce, out.Enforce = nonce(m.Key), true
	var sent struct {
		ID string `json:"id"`
	}
	if m.File == nil {
		err = p.rest.Call(ctx, http.MethodPost, path, out, &sent)
	} else {
		err = p.sendFile(ctx, path, out, m.File, &sent)
	}
	return sent.ID, err
}

func (p *Platform) sendFile(ctx context.Context, path string, out outgoing, file *channel.Upload, sent any) error {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"\/`, r) {
			return '_'
		}
		return r
	}, channel.CleanName(file.Name))
	out.Files = []fileRef{{0, name}}
	text, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	content, err := file.Open()
	if err != nil {
		return fmt.Errorf("discord: opening a file: %w", err)
	}
	defer func() { _ = content.Close() }()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	payload, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="payload_json"`}, "Content-Type": {"application/json"},
	})
	if err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	_, _ = payload.Write(text) // to a buffer
	part, err := w.CreateFormFile("files[0]", name)
	if err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	if _, err := io.Copy(part, io.LimitReader(content, maxFile+1)); err != nil {
		return fmt.Errorf("discord: reading a file: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	return p.rest.Send(ctx, http.MethodPost, path, w.FormDataContentType(), &form, sent)
}

// Edit implements channel.Platform.
func (p *Platform) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	path, err := messages(chatID)
	if err != nil {
		return err
	}
	return p.rest.Call(ctx, http.MethodPatch, path+"/"+url.PathEscape(messageID), body(m), nil)
}

// messages is the path of the messages of a chat. A thread is a channel of its own.
func messages(chatID string) (string, error) {
	if i := strings.LastIndexByte(chatID, '/'); i >= 0 {
		chatID = chatID[i+1:]
	}
	if !snowflake(chatID) {
		return "", fmt.Errorf("discord: the chat %.40q: %w", chatID, channel.ErrChatGone)
	}
	return "/channels/" + chatID + "/messages", nil
}

// snowflake reports whether a text is an id of Discord, and so can be part of a path.
func snowflake(id string) bool {
	return id != "" && len(id) <= 20 && strings.Trim(id, "0123456789") == ""
}

// Fetch implements channel.Platform. The address of a file is valid for a day only, so it is
// asked for again.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	chatID, rest, _ := strings.Cut(f.Ref, "/")
	messageID, fileID, _ := strings.Cut(rest, "/")
	path, err := messages(chatID)
	if err != nil || !snowflake(messageID) {
		return nil, fmt.Errorf("discord: the file %.80q: %w", f.Ref, channel.ErrMessageGone)
	}
	var m message
	if err := p.rest.Call(ctx, http.MethodGet, path+"/"+messageID, nil, &m); err != nil {
		return nil, err
	}
	for _, a := range m.Attachments {
		if a.ID == fileID {
			if err := p.checkFile(a.URL); err != nil {
				return nil, err
			}
			return p.rest.Get(ctx, a.URL)
		}
	}
	return nil, fmt.Errorf("discord: the file is no longer part of its message: %w", channel.ErrMessageGone)
}

// checkFile returns an error for an address that is not one of Discord's hosts for files.
func (p *Platform) checkFile(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "https" && (u.Host == "cdn.discordapp.com" || u.Host == "media.discordapp.net") {
		return nil
	}
	if p.files != "" && strings.HasPrefix(address, p.files+"/") {
		return nil
	}
	return fmt.Errorf("discord: %w: a file is at an unexpected address", channel.ErrRejected)
}

// Answer implements channel.Platform. Discord takes an answer for three seconds; one that
// comes later is lost, and what the press did is shown by the message.
func (p *Platform) Answer(ctx context.Context, press channel.Press, notice string) error {
	id, token, _ := strings.Cut(press.Ref, "/")
	answer := map[string]any{"type": 6} // confirmed, and nothing is shown
	if notice != "" {
		text := channel.Cut(notice, maxText/2)
		answer = map[string]any{"type": 4, "data": map[string]any{
			"content": escape(text), "flags": flagPrivate | flagNoEmbeds, "allowed_mentions": mentions{[]string{}},
		}}
	}
	err := p.rest.Call(ctx, http.MethodPost, "/interactions/"+url.PathEscape(id)+"/"+url.PathEscape(token)+"/callback", answer, nil)
	if errors.Is(err, channel.ErrMessageGone) || errors.Is(err, channel.ErrChatGone) {
		return nil
	}
	return err
}
