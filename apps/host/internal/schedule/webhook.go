package schedule

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Limits of webhooks.
const (
	MaxDelivery = 64 << 10 // bytes of a body
	maxKey      = 128      // bytes of a key
	// clockSkew is how far the time of a signed request may be from the host's. Keys are
	// remembered for longer: maxSeen requests at the highest rate take 16 minutes.
	clockSkew     = 5 * time.Minute
	defaultRate   = 10 // requests per minute
	signatureFrom = "t="
)

// Delivery is a request to the webhook of a schedule.
type Delivery struct {
	ID        string
	Token     string // "" if there is none
	Key       string // the same for each attempt to deliver the same event
	Signature string // "t=TIME,v1=HEX"; "" if there is none
	// Body reads the body. It is called only when the sender may send one.
	Body func() ([]byte, error)
}

// Delivered is the answer to a delivery.
type Delivered struct {
	// Run is the run of this event; absent if the event came before and its run is forgotten.
	Run      *api.ScheduleRun `json:"run,omitempty"`
	Repeated bool             `json:"repeated,omitempty"` // the event came before
}

// Deliver has a schedule run for a request. Each key counts once. An error of KindNotAllowed
// says nothing about which schedules exist.
func (s *Scheduler) Deliver(ctx context.Context, d Delivery) (answer Delivered, err error) {
	var r record
	var known bool
	if err := s.do(ctx, func() { r, known = s.records[d.ID] }); err != nil {
		return answer, err
	}
	signed := known && r.Spec.When.Webhook != nil && r.Spec.When.Webhook.Signed
	if !known || r.TokenHash == "" || !signed && !sameText(hashOf(d.Token), r.TokenHash) || signed && !s.recent(d.Signature) {
		return answer, stranger()
	}
	body, err := d.Body()
	if err != nil {
		return answer, err
	}
	if signed && !sameText(strings.TrimPrefix(partOf(d.Signature, 1), "v1="), Sign(r.Secret, partOf(d.Signature, 0), d.Key, body)) {
		return answer, stranger()
	}
	switch {
	case d.Key == "" || len(d.Key) > maxKey || strings.Trim(d.Key, keyCharacters) != "":
		return answer, api.Errorf(api.KindBadRequest, "the header Idempotency-Key needs 1 to %d letters, digits or one of -_.: so that a repeated request counts once", maxKey)
	case signed && strings.Contains(d.Key, "."):
		return answer, api.Errorf(api.KindBadRequest, "the header Idempotency-Key of a signed request may have no dot, which ends the key in what is signed")
	case !utf8.Valid(body):
		return answer, api.Errorf(api.KindBadRequest, "the body is not text in UTF-8")
	}
	doErr := s.do(ctx, func() { answer, err = s.accept(d, r.TokenHash, string(body)) })
	if doErr != nil {
		return answer, doErr
	}
	return answer, err
}

const keyCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"

func stranger() error {
	return api.Errorf(api.KindNotAllowed, "unknown schedule, wrong token or signature, or a clock that differs by more than %s", clockSkew)
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Sign returns the signature of a request: HMAC-SHA256 with the token over time, key and body,
// in lower-case hex. at is "t=" with Unix seconds.
func Sign(token, at, key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s.%s.", strings.TrimPrefix(at, signatureFrom), key)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// partOf returns a part of a signature.
func partOf(signature string, i int) string {
	if parts := strings.Split(signature, ","); len(parts) == 2 {
		return parts[i]
	}
	return ""
}

// recent reports whether a signature was made now.
func (s *Scheduler) recent(signature string) bool {
	seconds, err := strconv.ParseInt(strings.TrimPrefix(partOf(signature, 0), signatureFrom), 10, 64)
	age := s.Now().Sub(time.Unix(seconds, 0))
	return err == nil && age <= clockSkew && age >= -clockSkew
}

// accept stores the run of a delivery whose token was checked. The token may have been replaced
// while the body came.
func (s *Scheduler) accept(d Delivery, checked, body string) (answer Delivered, err error) {
	r, known := s.records[d.ID]
	key, now := "webhook:"+d.Key, s.Now()
	switch {
	case !known || r.TokenHash != checked:
		return answer, stranger()
	case r.saw(key):
		return Delivered{Run: s.runOf(d.ID, key), Repeated: true}, nil
	case !r.Enabled:
		return answer, api.Errorf(api.KindConflict, "this schedule is disabled")
	case r.full():
		return answer, api.Errorf(api.KindQueueFull, "%d runs of this schedule are waiting: try again later", maxQueue)
	case !s.allow(d.ID, now, r.Spec.When.Webhook.PerMinute):
		return answer, api.Errorf(api.KindQueueFull, "too many requests for this schedule: try again in a minute")
	}
	one := newRun(api.CauseWebhook, key, now.UnixMilli())
	one.Text, one.Source = body, "a webhook"
	if strings.TrimSpace(body) == "" {
		one.Text = "(an empty request)"
	}
	if !s.fire(d.ID, one) {
		return answer, api.Errorf(api.KindUnavailable, "the run could not be stored: send the same request again")
	}
	return Delivered{Run: s.runOf(d.ID, key)}, nil
}

// runOf returns the run of an event; nil if it is forgotten.
func (s *Scheduler) runOf(id, key string) *api.ScheduleRun {
	r := s.records[id]
	for _, one := range slices.Concat(r.Runs, r.Queue) {
		if one.Key == key {
			return &one.ScheduleRun
		}
	}
	return nil
}

// allow counts a request; false if there were too many in the last minute.
func (s *Scheduler) allow(id string, now time.Time, most int) bool {
	if most == 0 {
		most = defaultRate
	}
	recent := slices.DeleteFunc(s.rates[id], func(at time.Time) bool { return now.Sub(at) >= time.Minute || at.After(now) })
	if len(recent) >= most {
		s.rates[id] = recent
		return false
	}
	s.rates[id] = append(recent, now)
	return true
}
