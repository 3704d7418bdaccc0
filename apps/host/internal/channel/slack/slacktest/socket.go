package slacktest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/coder/websocket"
)

func (f *Fake) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	f.Lock()
	send(r.Context(), conn, envelope{Type: "hello"})
	for _, e := range f.Waiting {
		send(r.Context(), conn, e)
	}
	f.sockets[conn] = true
	f.Unlock()
	defer func() {
		f.Lock()
		delete(f.sockets, conn)
		f.Unlock()
	}()
	for {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if json.Unmarshal(text, &ack) != nil {
			return
		}
		f.Lock()
		f.Waiting = slices.DeleteFunc(f.Waiting, func(e envelope) bool {
			if e.ID == ack.ID {
				f.last = e
			}
			return e.ID == ack.ID
		})
		f.Unlock()
		f.Reached("acknowledged")
	}
}

func send(ctx context.Context, conn *websocket.Conn, e envelope) {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	_ = conn.Write(ctx, websocket.MessageText, text) // a broken connection ends its reader
}

// Acknowledged reports whether all envelopes were acknowledged.
func (f *Fake) Acknowledged() bool {
	f.Lock()
	defer f.Unlock()
	return len(f.Waiting) == 0
}

// Deliver sends an envelope, until it is acknowledged.
func (f *Fake) Deliver(kind string, payload any) {
	defer f.Reached("sent")
	f.Lock()
	defer f.Unlock()
	if f.Deaf {
		return
	}
	f.nextID++
	e := envelope{kind, "env" + strconv.Itoa(f.nextID), payload}
	f.Waiting = append(f.Waiting, e)
	for conn := range f.sockets {
		send(context.Background(), conn, e)
	}
}
