// Package qq is a bot of the QQ open platform as a channel.Platform: its gateway for what
// arrives, so that nothing has to be reachable from outside, and version 2 of its API for the
// rest.
//
// A bot answers: a message refers to one that was heard within the last hour, or five minutes in
// a group, and QQ allows five of them. What refers to none counts against a small monthly
// quota of the bot. There are no edits, and buttons need an approval of Tencent, so questions are
// answered by text. Groups give the bot only what mentions it. A session of the gateway is
// resumed after a restart; what was written when QQ no longer resumes it, is lost: there is no
// history.
package qq

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/restapi"
)

// What QQ allows. It documents no length of a text; longer ones than this were seen to fail.
const (
	maxText = 2000    // characters
	maxFile = 7 << 20 // bytes of a file, which is sent in a request of 10 MB
)

// Options configure a bot.
type Options struct {
	AppID  string
	Secret string
	// API is the address of the API, and of the tokens too; "" is QQ's.
	API string
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Platform is a bot.
type Platform struct {
	options Options
	files   string // where files may be, beside QQ's own hosts: the API of a test
	auth    restapi.Client
	rest    restapi.Client

	mu      sync.Mutex
	token   string
	expires time.Time
}

var _ channel.Platform = (*Platform)(nil)

// New makes a bot without a request.
func New(o Options) (*Platform, error) {
	api := strings.TrimRight(cmp.Or(o.API, "https://api.sgroup.qq.com"), "/")
	auth := strings.TrimRight(cmp.Or(o.API, "https://bots.qq.com"), "/")
	if err := channel.CheckEndpoint(api); err != nil {
		return nil, err
	}
	if _, err := strconv.ParseUint(o.AppID, 10, 64); err != nil {
		return nil, fmt.Errorf("%w: the id of a bot of QQ is a number", channel.ErrUnauthorized)
	}
	if o.Secret == "" || len(o.Secret) > 256 || strings.ContainsFunc(o.Secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the secret of a bot of QQ has no spaces", channel.ErrUnauthorized)
	}
	p := &Platform{options: o}
	if o.API != "" {
		p.files = api
	}
	client := restapi.HTTPClient(o.Transport)
	p.auth = restapi.Client{Name: "qq", Base: auth, HTTP: client, Explain: explain, Authorize: func(context.Context, *http.Request) error { return nil }}
	p.rest = restapi.Client{Name: "qq", Base: api, HTTP: client, Explain: explain, Authorize: p.authorize}
	return p, nil
}

// Limits implements channel.Platform.
func (p *Platform) Limits() channel.Limits {
	return channel.Limits{Text: maxText, Units: units, Every: 1100 * time.Millisecond, File: maxFile}
}

// The codes of errors that mean something.
const (
	codeRepeated    = 40054005 // the message was sent already
	codeTokenWrong  = 11241
	codeTokenMissed = 11242
	codeTokenOld    = 11244
)

func explain(_ int, body []byte) error {
	var said struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(body, &said) // then the status says enough
	switch said.Code {
	case codeRepeated:
		return errRepeated
	case codeTokenWrong, codeTokenMissed, codeTokenOld:
		return channel.ErrUnauthorized
	case 11251, 11252, 11253, 11254, 11255, 11263, 11264, 40034004, 304019: // no right, not a friend, not in the group
		return channel.ErrChatGone
	case 22009, 304045, 304046, 304047, 304048, 304049, 304050: // no more messages that answer none
		return fmt.Errorf("%w: QQ allows no further message until someone writes to the bot", channel.ErrRejected)
	case 304003, 40054010:
		return fmt.Errorf("%w: QQ allows links only to domains that are registered for the bot", channel.ErrRejected)
	}
	return nil
}

var errRepeated = errors.New("the message was sent already")

// authorize adds a token, which is valid for two hours.
func (p *Platform) authorize(ctx context.Context, r *http.Request) error {
	token, err := p.accessToken(ctx)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", token)
	return nil
}

// accessToken returns a token as requests and the gateway need it. It asks for a new one a
// minute before the old one expires, because QQ does not give it earlier.
func (p *Platform) accessToken(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token != "" && time.Now().Before(p.expires) {
		return "QQBot " + p.token, nil
	}
	var answer struct {
		Token   string `json:"access_token"`
		Expires any    `json:"expires_in"` // a number, or a text with one
		Code    int    `json:"code"`
	}
	err := p.auth.Call(ctx, http.MethodPost, "/app/getAppAccessToken", map[string]string{"appId": p.options.AppID, "clientSecret": p.options.Secret}, &answer)
	if err != nil {
		return "", err
	}
	if answer.Token == "" {
		return "", fmt.Errorf("qq: asking for a token: %w (code %d)", channel.ErrUnauthorized, answer.Code)
	}
	seconds, err := strconv.ParseFloat(fmt.Sprint(answer.Expires), 64)
	if err != nil || seconds < 0 || seconds > 24*60*60 {
		seconds = 0
	}
	p.token = answer.Token
	p.expires = time.Now().Add(time.Duration(max(seconds-50, 1)) * time.Second)
	return "QQBot " + p.token, nil
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (channel.Identity, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
	}
	if err := p.rest.Call(ctx, http.MethodGet, "/users/@me", nil, &me); err != nil {
		return channel.Identity{}, err
	}
	return channel.Identity{ID: me.ID, Name: cmp.Or(me.Username, me.ID)}, nil
}

const groupPrefix = "group/"

// place is the path of a chat.
func place(chatID string) string {
	if id, group := strings.CutPrefix(chatID, groupPrefix); group {
		return "/v2/groups/" + url.PathEscape(id)
	}
	return "/v2/users/" + url.PathEscape(chatID)
}

// outgoing is the body of a message.
type outgoing struct {
	Content string `json:"content,omitempty"`
	Type    int    `json:"msg_type"`
	Media   *media `json:"media,omitempty"`
	Answers string `json:"msg_id,omitempty"`
	Seq     uint32 `json:"msg_seq"`
}

type media struct {
	Info string `json:"file_info"`
}

// Send implements channel.Platform. QQ recognizes a repeated answer by its number.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	sum := sha256.Sum256([]byte(m.Key))
	out := outgoing{Content: render(m.Text), Answers: m.ReplyTo, Seq: binary.BigEndian.Uint32(sum[:]) >> 1}
	if m.File != nil {
		info, err := p.upload(ctx, chatID, m.File)
		if err != nil {
			return "", err
		}
		out.Content, out.Type, out.Media = "", 7, &media{info}
	}
	var sent struct {
		ID string `json:"id"`
	}
	err := p.rest.Call(ctx, http.MethodPost, place(chatID)+"/messages", out, &sent)
	if errors.Is(err, errRepeated) {
		return fmt.Sprintf("seq-%d", out.Seq), nil
	}
	return sent.ID, err
}

// upload sends a file, which a message then refers to. Groups only take images.
func (p *Platform) upload(ctx context.Context, chatID string, file *channel.Upload) (string, error) {
	kind := 4
	if file.MIME == "image/png" || file.MIME == "image/jpeg" {
		kind = 1
	} else if strings.HasPrefix(chatID, groupPrefix) {
		return "", fmt.Errorf("qq: %w: groups of QQ take PNG and JPEG images only", channel.ErrRejected)
	}
	content, err := file.Open()
	if err != nil {
		return "", fmt.Errorf("qq: opening a file: %w", err)
	}
	defer func() { _ = content.Close() }()
	var data bytes.Buffer
	if _, err := io.Copy(&data, io.LimitReader(content, maxFile+1)); err != nil {
		return "", fmt.Errorf("qq: reading a file: %w", err)
	}
	var answer struct {
		Info string `json:"file_info"`
	}
	err = p.rest.Call(ctx, http.MethodPost, place(chatID)+"/files", map[string]any{
		"file_type": kind, "file_data": base64.StdEncoding.EncodeToString(data.Bytes()), "file_name": channel.CleanName(file.Name), "srv_send_msg": false,
	}, &answer)
	return answer.Info, err
}

// Edit implements channel.Platform. QQ has no edits.
func (p *Platform) Edit(context.Context, string, string, channel.Outgoing) error {
	return fmt.Errorf("qq: %w: QQ has no edits", channel.ErrMessageGone)
}

// Answer implements channel.Platform. There are no buttons.
func (p *Platform) Answer(context.Context, channel.Press, string) error { return nil }

// Fetch implements channel.Platform.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	u, err := url.Parse(f.Ref)
	own := err == nil && u.Scheme == "https" && (strings.HasSuffix(u.Host, ".qq.com.cn") || strings.HasSuffix(u.Host, ".qq.com") || strings.HasSuffix(u.Host, ".qpic.cn"))
	if !own && (p.files == "" || !strings.HasPrefix(f.Ref, p.files+"/")) {
		return nil, fmt.Errorf("qq: %w: a file is at an unexpected address", channel.ErrRejected)
	}
	return p.rest.Get(ctx, f.Ref)
}

func units(s channel.Segment) int {
	n := utf8.RuneCountInString(text(s.Text))
	if s.Kind == channel.Block {
		n += 2
	}
	return n
}

// render returns a text without markup, which QQ does not have.
func render(rich []channel.Segment) string { return text(channel.String(rich)) }

// text keeps the tags that QQ reads in a text, such as a mention, from being read, with a space
// that has no width.
func text(s string) string {
	return tags.Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// tags are what begins a tag.
var tags = strings.NewReplacer("<@", "<\u200b@", "<#", "<\u200b#", "<emoji:", "<\u200bemoji:", "<faceType", "<\u200bfaceType", "<qqbot-", "<\u200bqqbot-")
