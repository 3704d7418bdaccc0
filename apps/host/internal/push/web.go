package push

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Web sends to the push services of browsers.
type Web struct {
	Key  *Key
	HTTP Clients
}

var _ Channel = (*Web)(nil)

// Kind implements Channel.
func (*Web) Kind() api.PushKind { return api.PushWeb }

// Check implements Channel. The endpoint of a browser is public, on the port of https.
func (*Web) Check(a Address) error {
	if _, err := recipientOf(a); err != nil {
		return api.Errorf(api.KindBadRequest, "%s: turn notifications on again in the browser", err)
	}
	a.Private = false
	u, err := checkURL(a)
	if err != nil {
		return api.Errorf(api.KindBadRequest, "the address of the push service cannot be used: %s", err)
	}
	if port := u.Port(); port != "" && port != "443" {
		return api.Errorf(api.KindBadRequest, "the address of the push service cannot be used: its port is not 443")
	}
	return nil
}

// Server implements Channel.
func (*Web) Server(a Address) string { return serverOf(a) }

func serverOf(a Address) string {
	u, err := checkURL(a)
	if err != nil {
		return ""
	}
	return u.Host
}

// Send implements Channel.
func (w *Web) Send(ctx context.Context, to Address, message Message) Result {
	to.Private = false
	if err := w.Check(to); err != nil { // also what an older host stored
		return Result{Err: err}
	}
	u, _ := checkURL(to)
	browser, _ := recipientOf(to)
	content, err := encode(message)
	if err == nil && len(content) > MaxBytes {
		err = fmt.Errorf("push: the notification has %d bytes, the limit is %d", len(content), MaxBytes)
	}
	if err != nil {
		return Result{Err: err}
	}
	body, err := seal(content, browser)
	if err != nil {
		return Result{Err: err}
	}
	proof, err := w.Key.authorize(u, time.Now())
	if err != nil {
		return Result{Err: err}
	}
	urgency := "normal"
	if message.Urgent {
		urgency = "high"
	}
	return w.HTTP.post(ctx, to, body, http.Header{
		"Authorization": {proof}, "Content-Encoding": {"aes128gcm"}, "Content-Type": {"application/octet-stream"},
		"Ttl": {strconv.Itoa(int(message.TTL / time.Second))}, "Urgency": {urgency}, "Topic": {topic(w.Key, message.Tag)},
	})
}

func encode(m Message) ([]byte, error) {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false) // it is no HTML, and the room is limited
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("push: encoding a notification: %w", err)
	}
	return bytes.TrimSpace(content.Bytes()), nil
}

// topic names messages that replace each other while they wait at the push service. It says
// nothing about what they are about, and differs between hosts.
func topic(k *Key, tag string) string {
	sum := sha256.Sum256([]byte(k.public + "\x00" + tag))
	return base64.RawURLEncoding.EncodeToString(sum[:24]) // 32 characters, the most that is allowed
}
