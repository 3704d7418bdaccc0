// Package telegram is a Telegram bot as a channel.Platform: long polling of the Bot API, so
// that nothing has to be reachable from outside.
//
// The requests and types are those of go-telegram/bot. Its polling is not used: it confirms
// the last update of an answer while a handler still runs, and an update that was confirmed
// is lost if the host is killed then. Here the next getUpdates, which confirms all earlier
// updates, follows the return of Take.
//
// Text is sent with entities and without a parse mode, so that there is nothing to escape.
package telegram

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Limits of the Bot API.
const (
	maxText   = 4096 // UTF-16 units of a text
	maxNotice = 200  // characters of the answer to a press
	maxAnswer = 8 << 20
	poll      = 50 * time.Second // how long getUpdates waits for an update
)

// Options configure a bot.
type Options struct {
	Token string
	// API is the address of the Bot API; "" is Telegram's.
	API string
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Platform is a bot.
type Platform struct {
	token, api string
	bot        *bot.Bot
	http       *http.Client
}

var _ channel.Platform = (*Platform)(nil)

// New makes a bot without a request.
func New(o Options) (*Platform, error) {
	api := strings.TrimRight(cmp.Or(o.API, "https://api.telegram.org"), "/")
	if err := channel.CheckEndpoint(api); err != nil {
		return nil, err
	}
	if !validToken(o.Token) {
		return nil, fmt.Errorf("%w: a token of Telegram looks like 123456:ABC-DEF", channel.ErrUnauthorized)
	}
	client := &http.Client{
		Transport:     o.Transport,
		Timeout:       5 * time.Minute, // of an upload
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	b, err := bot.New(o.Token, bot.WithServerURL(api), bot.WithSkipGetMe(), bot.WithHTTPClient(poll, client),
		bot.WithErrorsHandler(func(error) {})) // of its pipes, whose other end has the same error
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", channel.Redact(err, o.Token))
	}
	return &Platform{token: o.Token, api: api, bot: b, http: client}, nil
}

// validToken reports whether a token can be part of a path.
func validToken(token string) bool {
	id, secret, ok := strings.Cut(token, ":")
	letters := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	_, err := strconv.ParseUint(id, 10, 64)
	return ok && err == nil && secret != "" && len(token) <= 128 && strings.IndexFunc(secret, letters) < 0
}

// Limits implements channel.Platform. A group gets at most 20 messages a minute.
func (p *Platform) Limits() channel.Limits {
	return channel.Limits{
		Text: maxText, Units: units, Every: time.Second, EditEvery: 3 * time.Second, File: channel.MaxFile, Edits: true, Buttons: true,
	}
}

// Check implements channel.Platform.
func (p *Platform) Check(ctx context.Context) (channel.Identity, error) {
	me, err := p.bot.GetMe(ctx)
	if err != nil {
		return channel.Identity{}, p.explain("asking who the bot is", err)
	}
	return channel.Identity{ID: strconv.FormatInt(me.ID, 10), Name: "@" + me.Username, Link: "https://t.me/" + me.Username}, nil
}

// Run implements channel.Platform. The cursor is the offset of the next update.
func (p *Platform) Run(ctx context.Context, cursor []byte, in channel.Inbound) error {
	me, err := p.Check(ctx)
	if err != nil {
		return err
	}
	offset, _ := strconv.ParseInt(string(cursor), 10, 64) // 0 is the first update that is kept
	in.Connected()
	for {
		updates, err := p.updates(ctx, offset)
		if err != nil {
			return err
		}
		for _, u := range updates {
			if u.ID < offset {
				continue
			}
			offset = u.ID + 1
			update := reader{me}.update(u)
			update.Cursor = strconv.AppendInt(nil, offset, 10)
			if err := in.Take(ctx, update); err != nil {
				return err
			}
		}
	}
}

// updates waits for updates from offset on, and confirms those before it.
func (p *Platform) updates(ctx context.Context, offset int64) ([]*models.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, poll+10*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]any{
		"offset": offset, "timeout": int(poll.Seconds()), "allowed_updates": []string{"message", "edited_message", "callback_query"},
	})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.api+"/bot"+p.token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, channel.Redact(err, p.token)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := p.http.Do(request)
	if err != nil {
		return nil, p.explain("waiting for updates", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		OK          bool             `json:"ok"`
		Result      []*models.Update `json:"result"`
		Code        int              `json:"error_code"`
		Description string           `json:"description"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer); err != nil {
		return nil, p.explain("reading updates", fmt.Errorf("HTTP %d: %w", response.StatusCode, err))
	}
	if answer.OK {
		return answer.Result, nil
	}
	err = errors.New(answer.Description)
	switch answer.Code {
	case http.StatusUnauthorized, http.StatusNotFound:
		err = fmt.Errorf("%w, %s", bot.ErrorUnauthorized, answer.Description)
	case http.StatusConflict:
		err = fmt.Errorf("%w, %s", bot.ErrorConflict, answer.Description)
	case http.StatusTooManyRequests:
		err = &bot.TooManyRequestsError{RetryAfter: answer.Parameters.RetryAfter}
	}
	return nil, p.explain("waiting for updates", err)
}

// Send implements channel.Platform.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	chat, thread, err := splitChat(chatID)
	if err != nil {
		return "", err
	}
	if m.File != nil {
		return p.sendFile(ctx, chat, thread, m)
	}
	text, entities := render(m.Text)
	off := true
	sent, err := p.bot.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: chat, MessageThreadID: thread, Text: text, Entities: entities, DisableNotification: m.Silent,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off}, ReplyMarkup: keyboard(m.Buttons),
	})
	if err != nil {
		return "", p.explain("sending a message", err)
	}
	return strconv.Itoa(sent.ID), nil
}

func (p *Platform) sendFile(ctx context.Context, chat int64, thread int, m channel.Outgoing) (string, error) {
	file, err := m.File.Open()
	if err != nil {
		return "", fmt.Errorf("telegram: opening a file: %w", err)
	}
	defer func() { _ = file.Close() }()
	sent, err := p.bot.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: chat, MessageThreadID: thread, DisableNotification: m.Silent,
		Document: &models.InputFileUpload{Filename: m.File.Name, Data: bufio.NewReader(file)}, DisableContentTypeDetection: true,
	})
	if err != nil {
		return "", p.explain("sending a file", err)
	}
	return strconv.Itoa(sent.ID), nil
}

// Edit implements channel.Platform.
func (p *Platform) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	chat, _, err := splitChat(chatID)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(messageID)
	if err != nil {
		return fmt.Errorf("telegram: the message %q: %w", messageID, channel.ErrMessageGone)
	}
	text, entities := render(m.Text)
	off := true
	_, err = p.bot.EditMessageText(ctx, &bot.EditMessageTextParams{
		ChatID: chat, MessageID: id, Text: text, Entities: entities, ReplyMarkup: keyboard(m.Buttons),
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off},
	})
	if err != nil && strings.Contains(err.Error(), "message is not modified") {
		return nil
	}
	return p.explain("editing a message", err)
}

// Fetch implements channel.Platform.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	file, err := p.bot.GetFile(ctx, &bot.GetFileParams{FileID: f.Ref})
	if err != nil {
		return nil, p.explain("asking for a file", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.api+"/file/bot"+p.token+"/"+strings.TrimLeft(file.FilePath, "/"), nil)
	if err != nil {
		return nil, channel.Redact(err, p.token)
	}
	response, err := p.http.Do(request)
	if err != nil {
		return nil, p.explain("reading a file", err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("telegram: reading a file: HTTP %d", response.StatusCode)
	}
	return response.Body, nil
}

// Answer implements channel.Platform. A press that is too old has no spinner any more.
func (p *Platform) Answer(ctx context.Context, press channel.Press, notice string) error {
	runes := []rune(notice)
	_, err := p.bot.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: press.Ref, Text: string(runes[:min(len(runes), maxNotice)])})
	if err != nil && strings.Contains(err.Error(), "query is too old") {
		return nil
	}
	return p.explain("answering a press", err)
}

// explain translates an error of the Bot API. Its descriptions are the only way to tell
// some of them apart.
func (p *Platform) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	has := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(err.Error(), text) {
				return true
			}
		}
		return false
	}
	var limited *bot.TooManyRequestsError
	var migrated *bot.MigrateError
	switch {
	case errors.As(err, &limited):
		return &channel.RateLimited{After: time.Duration(max(limited.RetryAfter, 1)) * time.Second}
	case errors.Is(err, bot.ErrorUnauthorized), errors.Is(err, bot.ErrorNotFound):
		err = channel.ErrUnauthorized
	case errors.Is(err, bot.ErrorConflict):
		err = channel.ErrConflict
	case errors.Is(err, bot.ErrorForbidden), errors.As(err, &migrated), errors.Is(err, bot.ErrorBadRequest) && has("chat not found", "chat was deleted", "message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"):
		err = fmt.Errorf("%w (%w)", channel.ErrChatGone, err)
	case errors.Is(err, bot.ErrorBadRequest) && has("message to edit not found", "message can't be edited", "MESSAGE_ID_INVALID"):
		err = fmt.Errorf("%w (%w)", channel.ErrMessageGone, err)
	case errors.Is(err, bot.ErrorBadRequest), has(" 413 "):
		err = fmt.Errorf("%w (%w)", channel.ErrRejected, err)
	}
	return fmt.Errorf("telegram: %s: %w", what, channel.Redact(err, p.token))
}

func keyboard(buttons []channel.Button) models.ReplyMarkup {
	if len(buttons) == 0 {
		return nil
	}
	markup := &models.InlineKeyboardMarkup{}
	for _, b := range buttons {
		markup.InlineKeyboard = append(markup.InlineKeyboard, []models.InlineKeyboardButton{{Text: b.Label, CallbackData: b.Data}})
	}
	return markup
}
