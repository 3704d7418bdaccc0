package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook/webhooktest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake { return webhooktest.Start(t) })
}

// none is an Inbound that must get nothing.
type none struct{ t *testing.T }

func (none) Connected() {}
func (n none) Take(_ context.Context, u channel.Update) error {
	n.t.Errorf("taken: %+v", u)
	return errors.New("taken")
}

func TestForgedEventsEndTheConnection(t *testing.T) {
	for _, forge := range []func(string) string{
		func(string) string { return "" },
		func(s string) string { return s[:len(s)-1] + "x" },
		func(string) string { return webhook.SignEvent([]byte("another secret of theirs"), "1-u1", nil) },
	} {
		f := webhooktest.Start(t)
		f.Forge = forge
		f.Say(channel.Chat{ID: "c"}, channel.Sender{ID: "s"}, "forged")
		if err := f.New(t, channeltest.Token).Run(t.Context(), nil, none{t}); err == nil || !strings.Contains(err.Error(), "wrong signature") {
			t.Errorf("the connection ended with %v", err)
		}
	}
}

// TestSignaturesAreAsDocumented computes signatures as docs/channels.md tells authors of servers to.
func TestSignaturesAreAsDocumented(t *testing.T) {
	hashed := func(data string) string {
		sum := sha256.Sum256([]byte(data))
		return hex.EncodeToString(sum[:])
	}
	signed := func(text string) string {
		h := hmac.New(sha256.New, []byte(channeltest.Token))
		_, _ = h.Write([]byte(text))
		return "v1=" + hex.EncodeToString(h.Sum(nil))
	}
	const body = `{"key":"k","chat":"c"}`
	want := signed("1700000000\nnonce\nPOST\n/hook/send?x=1\n" + hashed(body))
	if got := webhook.Sign([]byte(channeltest.Token), "1700000000", "nonce", "POST", "/hook/send?x=1", []byte(body)); got != want {
		t.Errorf("the signature of a request is %s, want %s", got, want)
	}
	if got, want := webhook.SignEvent([]byte(channeltest.Token), "17", []byte(body)), signed("event\n17\n"+hashed(body)); got != want {
		t.Errorf("the signature of an event is %s, want %s", got, want)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []webhook.Options{
		{URL: "http://example.com", Secret: channeltest.Token}, {URL: "https://example.com?x=1", Secret: channeltest.Token},
		{URL: "", Secret: channeltest.Token}, {URL: "https://example.com", Secret: "short"},
	} {
		if _, err := webhook.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
