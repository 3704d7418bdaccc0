//go:build unix

package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

const token = "a token of many characters"

func webhook(signed bool) api.ScheduleSpec {
	return api.ScheduleSpec{When: api.ScheduleWhen{Webhook: &api.ScheduleWebhook{Signed: signed}}}
}

// deliver sends a request to a webhook.
func (w *world) deliver(d Delivery, body string) (Delivered, error) {
	d.Body = func() ([]byte, error) { return []byte(body), nil }
	return w.Deliver(context.Background(), d)
}

func wantKind(t *testing.T, err error, kind api.Kind) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind {
		t.Errorf("the error is %v, want %s", err, kind)
	}
}

// TestAWebhook: each key counts once, also after a restart, and what does not fit is refused.
func TestAWebhook(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("hook", webhook(false))
	good := Delivery{ID: id, Token: token, Key: "one"}
	first, err := w.deliver(good, "text from outside")
	if err != nil || first.Run == nil || first.Repeated {
		t.Fatalf("%+v, %v", first, err)
	}
	w.want(id, api.RunRunning)
	if prompt := w.started[0].Prompt; !w.started[0].Outside || !strings.Contains(prompt, "text from outside\noutside-") {
		t.Errorf("the prompt is %q", prompt)
	}
	for range 2 {
		again, err := w.deliver(good, "replayed with another text")
		if err != nil || !again.Repeated || again.Run.ID != first.Run.ID {
			t.Errorf("a replay: %+v, %v", again, err)
		}
		w.restart()
	}
	w.want(id, api.RunRunning)
	for _, d := range []Delivery{{ID: id, Key: "x"}, {ID: id, Token: "wrong", Key: "x"}, {ID: "sch_none", Token: token, Key: "x"}, {ID: id, Token: hashOf(token), Key: "x"}} {
		_, err := w.Deliver(context.Background(), Delivery{ID: d.ID, Token: d.Token, Key: d.Key, Body: func() ([]byte, error) {
			t.Error("the body of a stranger is read")
			return nil, nil
		}})
		wantKind(t, err, api.KindNotAllowed)
	}
	for _, key := range []string{"", "a b", strings.Repeat("x", 129), "x\ny"} {
		_, err := w.deliver(Delivery{ID: id, Token: token, Key: key}, "x")
		wantKind(t, err, api.KindBadRequest)
	}
	_, err = w.deliver(Delivery{ID: id, Token: token, Key: "bytes"}, "\xff")
	wantKind(t, err, api.KindBadRequest)
	for i := range defaultRate {
		if _, err := w.deliver(Delivery{ID: id, Token: token, Key: fmt.Sprint(i)}, "x"); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.deliver(Delivery{ID: id, Token: token, Key: "eleventh"}, "x")
	wantKind(t, err, api.KindQueueFull)
}

// TestASignedWebhook: a signature is for one key and one body, and for five minutes; the token
// itself is not accepted.
func TestASignedWebhook(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("signed", webhook(true))
	signature := func(at time.Time, key, body string) string {
		t := fmt.Sprintf("t=%d", at.Unix())
		return t + ",v1=" + Sign(token, t, key, []byte(body))
	}
	good := Delivery{ID: id, Key: "one", Signature: signature(w.clock(), "one", "body")}
	if answer, err := w.deliver(good, "body"); err != nil || answer.Repeated {
		t.Fatalf("%+v, %v", answer, err)
	}
	if answer, err := w.deliver(good, "body"); err != nil || !answer.Repeated {
		t.Errorf("a replay: %+v, %v", answer, err)
	}
	for name, d := range map[string]Delivery{
		"the token":     {ID: id, Token: token, Key: "two"},
		"another key":   {ID: id, Key: "two", Signature: good.Signature},
		"another body":  {ID: id, Key: "two", Signature: signature(w.clock(), "two", "other")},
		"too old":       {ID: id, Key: "two", Signature: signature(w.clock().Add(-6*time.Minute), "two", "body")},
		"of the future": {ID: id, Key: "two", Signature: signature(w.clock().Add(6*time.Minute), "two", "body")},
		"no signature":  {ID: id, Key: "two", Signature: "t=,v1="},
		"more parts":    {ID: id, Key: "two", Signature: signature(w.clock(), "two", "body") + ",v1=x"},
	} {
		if _, err := w.deliver(d, "body"); err == nil {
			t.Errorf("%s is accepted", name)
		} else {
			wantKind(t, err, api.KindNotAllowed)
		}
	}
}

// TestASignatureMovedToAnotherKey: who sees a signed request cannot have it count again by
// moving the dot between its key and its body.
func TestASignatureMovedToAnotherKey(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("signed", webhook(true))
	at := fmt.Sprintf("t=%d", w.clock().Unix())
	sign := func(key, body string) string { return at + ",v1=" + Sign(token, at, key, []byte(body)) }
	for _, d := range []struct{ key, body, signature string }{
		{"delivery.1", "body", sign("delivery.1", "body")},       // is also one of "delivery" and "1.body"
		{"delivery.text", "rest", sign("delivery", "text.rest")}, // was made for another key
	} {
		_, err := w.deliver(Delivery{ID: id, Key: d.key, Signature: d.signature}, d.body)
		wantKind(t, err, api.KindBadRequest)
	}
	w.want(id)
}

// TestATokenReplacedMeanwhile: a token that is replaced while the body comes is good no more.
func TestATokenReplacedMeanwhile(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("hook", webhook(false))
	_, err := w.Deliver(context.Background(), Delivery{ID: id, Token: token, Key: "one", Body: func() ([]byte, error) {
		spec := w.records[id].Spec
		w.inside(func() {
			if _, err := w.replace("host", api.SaveScheduleRequest{ProjectID: "prj", ID: id, Spec: spec, Token: "another token of many characters"}); err != nil {
				t.Error(err)
			}
		})
		return []byte("body"), nil
	}})
	wantKind(t, err, api.KindNotAllowed)
	w.want(id)
}

// TestManyFilesAtOnce: no more of them are read than can wait, and none is lost.
func TestManyFilesAtOnce(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("inbox", api.ScheduleSpec{When: api.ScheduleWhen{Folder: &api.ScheduleFolder{Path: "."}}})
	w.at("2026-11-23T02:00:05Z")
	w.settled(id)
	const all = maxQueue + 4
	for i := range all {
		if err := os.WriteFile(filepath.Join(w.project, fmt.Sprintf("%02d", i)), []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var r record
	w.inside(func() { r = w.records[id] })
	found, _, err := w.lookInto(r, *r.Spec.When.Folder, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, texts, err := w.lookInto(r, *r.Spec.When.Folder, nil, found); err != nil || len(texts) != maxQueue+1 {
		t.Errorf("%d files were read, %v", len(texts), err)
	}
	w.at("2026-11-23T02:00:10Z")
	w.settled(id)
	w.runAll(id, all)
}

// TestAWatchedFolder: each new file counts once, when it is complete; links and what is no file
// do not.
func TestAWatchedFolder(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	inbox, outside := filepath.Join(w.project, "inbox"), filepath.Join(t.TempDir(), "secret.txt")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(inbox, "old.txt"), "old")
	write(outside, "secret")
	id := w.add("inbox", api.ScheduleSpec{When: api.ScheduleWhen{Folder: &api.ScheduleFolder{Path: "inbox", Pattern: "*.txt"}}})
	second := 0
	look := func() {
		t.Helper()
		second += 5
		w.at(fmt.Sprintf("2026-11-23T02:%02d:%02dZ", second/60, second%60))
		w.settled(id)
	}
	look()
	look()
	w.want(id)
	write(filepath.Join(inbox, "new.txt"), "half")
	write(filepath.Join(inbox, ".hidden.txt"), "x")
	write(filepath.Join(inbox, "other.csv"), "x")
	for _, err := range []error{os.Symlink(outside, filepath.Join(inbox, "link.txt")), syscall.Mkfifo(filepath.Join(inbox, "pipe.txt"), 0o600), os.Mkdir(filepath.Join(inbox, "folder.txt"), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	look()
	w.want(id)
	write(filepath.Join(inbox, "new.txt"), "half and the rest")
	look() // it has changed since
	look()
	runs := w.want(id, api.RunRunning)
	if prompt := w.started[0].Prompt; !strings.Contains(prompt, "File: inbox/new.txt\n\nhalf and the rest\n") {
		t.Errorf("the prompt is %q", prompt)
	}
	w.ends(runs[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded)
	w.restart()
	look()
	look()
	w.want(id, api.RunSucceeded)
	if err := os.RemoveAll(inbox); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), inbox); err != nil {
		t.Fatal(err)
	}
	look()
	w.inside(func() {
		if problem := w.problems[id]; !strings.Contains(problem, "the folder inbox cannot be read") {
			t.Errorf("the problem is %q", problem)
		}
	})
}
