package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
)

// channelServer makes this test program a channel server as others write one: lines of JSON-RPC,
// without any part of scorel. Its value is what kind: "plain", "permission", "extended", "silent"
// (no tool reply) or "hang" (reply is never answered). It writes its address to the file
// "control" in its folder; requests there make it speak, and return what it was sent.
const channelServer = "SCOREL_TEST_CHANNEL_SERVER"

type channelChild struct {
	kind string

	mu      sync.Mutex
	said    []json.RawMessage // what the host called and notified
	changed chan struct{}     // closed when there is more
}

func serveAsChannel() bool {
	kind := os.Getenv(channelServer)
	if kind == "" {
		return false
	}
	c := &channelChild{kind: kind, changed: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /notify", c.notify)
	mux.HandleFunc("POST /exit", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	mux.HandleFunc("GET /said", c.tell)
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	if err := os.WriteFile("control.new", []byte(listener.Addr().String()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename("control.new", "control"); err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		c.line(lines.Bytes())
	}
	return true
}

// write writes a line of JSON-RPC.
func (c *channelChild) write(message any) {
	raw, err := json.Marshal(message)
	if err != nil {
		log.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = os.Stdout.Write(append(raw, '\n'))
}

func (c *channelChild) record(message any) int {
	raw, err := json.Marshal(message)
	if err != nil {
		log.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, raw)
	close(c.changed)
	c.changed = make(chan struct{})
	return len(c.said)
}

func (c *channelChild) line(raw []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(raw, &m) != nil {
		log.Fatalf("not JSON: %.200s", raw)
	}
	type object = map[string]any
	answer := func(result any) { c.write(object{"jsonrpc": "2.0", "id": m.ID, "result": result}) }
	switch m.Method {
	case "initialize":
		experimental := object{"claude/channel": object{}}
		switch c.kind {
		case "permission":
			experimental["claude/channel/permission"] = object{}
		case "extended":
			experimental["scorel/channel"] = object{"version": 1, "text": 1000, "buttons": true, "edits": true}
		}
		answer(object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}, "experimental": experimental}, "serverInfo": object{"name": "talker", "version": "1"}})
	case "tools/list":
		text := object{"type": "string"}
		tools := []object{{"name": "react", "description": "Reacts.", "inputSchema": object{"type": "object"}}}
		if c.kind != "silent" {
			tools = append(tools, object{"name": "reply", "description": "Replies.", "inputSchema": object{"type": "object", "properties": object{"chat_id": text, "text": text}}})
		}
		if c.kind == "extended" {
			for _, name := range []string{"scorel_send", "scorel_edit", "scorel_answer"} {
				tools = append(tools, object{"name": name, "inputSchema": object{"type": "object"}})
			}
		}
		answer(object{"tools": tools})
	case "tools/call":
		n := c.record(object{"call": m.Params})
		if c.kind != "hang" {
			answer(object{"content": []object{{"type": "text", "text": "sent"}}, "structuredContent": object{"id": "m" + strconv.Itoa(n)}})
		}
	case "notifications/initialized", "notifications/cancelled":
	default:
		if m.ID != nil {
			c.write(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": -32601, "message": "unknown method"}})
			return
		}
		c.record(object{"method": m.Method, "params": m.Params})
	}
}

// notify sends a notification, several times with n.
func (c *channelChild) notify(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(body) {
		http.Error(w, fmt.Sprint("not JSON ", err), http.StatusBadRequest)
		return
	}
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	for range max(1, n) {
		c.write(map[string]any{"jsonrpc": "2.0", "method": r.URL.Query().Get("method"), "params": json.RawMessage(body)})
	}
}

// tell returns what was said after the first n, once there is any.
func (c *channelChild) tell(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("after"))
	for {
		c.mu.Lock()
		said, changed := c.said, c.changed
		c.mu.Unlock()
		if len(said) > n {
			_ = json.NewEncoder(w).Encode(said[n:])
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
