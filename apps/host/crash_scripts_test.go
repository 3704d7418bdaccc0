//go:build unix

package host_test

import (
	"fmt"
	"maps"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// crashScript is what a model says and what a person does. Every command that it
// runs writes its tag into the file "ran".
type crashScript struct {
	steps  []modeltest.Step
	config string // lines of config.toml
	play   func(w *witness)
	least  int // points that it must have
	stride int // from one point to the next, where not every one is tried; odd, for each step has two
	// check, where it is set, looks at what the last host left, and what it asked of
	// its model.
	check func(w *witness, asked string)

	// The program that is killed, a home with the session that it is about, and its
	// folder.
	program, home, sessionID, project string
}

// bash is a call that writes down that it ran.
func bash(id, tag, more string) session.Block {
	return modeltest.Call(id, "bash", fmt.Sprintf(`{"command":"echo %s >> ran%s"}`, tag, more))
}

func freely(key, text string) api.SendPromptRequest {
	return api.SendPromptRequest{ClientKey: key, Text: text, AllowAll: true}
}

func asking(key, text string) api.SendPromptRequest {
	return api.SendPromptRequest{ClientKey: key, Text: text}
}

func steering(key, text string) api.SendPromptRequest {
	return api.SendPromptRequest{ClientKey: key, Text: text, Mode: session.ModeSteer}
}

func crashScripts() map[string]crashScript {
	scripts := map[string]crashScript{
		"text": {
			steps: []modeltest.Step{modeltest.Say("hello there"), modeltest.Say("and again")},
			play: func(w *witness) {
				w.prompt(asking("k1", "hello"))
				w.untilEnded("k1")
				w.prompt(asking("k2", "hello again"))
				w.untilEnded("k2")
			},
			least: 10,
		},
		"tools": {
			steps: []modeltest.Step{
				{Content: session.Content{
					session.Text("I look around"),
					modeltest.Call("r1", "read_file", `{"path":"notes.txt"}`), modeltest.Call("r2", "list_dir", `{"path":"."}`),
					modeltest.Call("r3", "grep", `{"pattern":"word"}`),
				}},
				{Content: session.Content{
					bash("b1", "b1", ""), modeltest.Call("w1", "write_file", `{"path":"new.txt","content":"new\n"}`), bash("b2", "b2", " && false"),
				}},
				modeltest.Say("done"),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "look and change"))
				w.untilEnded("k1")
			},
			least: 20,
		},
		"approvals": {
			steps: []modeltest.Step{
				modeltest.Calls(bash("a1", "a1", ""), bash("a2", "a2", ""), modeltest.Call("r1", "read_file", `{"path":"notes.txt"}`), bash("a3", "a3", "")),
				modeltest.Say("done"),
			},
			play: func(w *witness) {
				w.prompt(asking("k1", "change"))
				w.answer(api.DecisionAllow, "")
				w.answer(api.DecisionDeny, "not this one")
				w.answer(api.DecisionAllow, "")
				w.untilEnded("k1")
			},
			least: 24,
		},
		"queue and steer": {
			steps: []modeltest.Step{
				modeltest.Calls(bash("q1", "q1", "")), modeltest.Say("as you say"), modeltest.Say("two"), modeltest.Say("three"), modeltest.Say("four"),
			},
			play: func(w *witness) {
				w.prompt(asking("k1", "change"))
				w.until("an approval", func() bool { return len(w.live.Approvals) == 1 })
				w.prompt(asking("f1", "later"))
				w.prompt(asking("f2", "still later"))
				w.prompt(steering("s1", "mind this"))
				w.edit("f2", "edited")
				w.answer(api.DecisionAllow, "")
				for _, key := range []string{"k1", "f1", "f2"} {
					w.untilEnded(key)
				}
			},
			least: 30,
		},
		"images": {
			steps: []modeltest.Step{modeltest.Calls(bash("i1", "i1", "")), modeltest.Say("two"), modeltest.Say("three")},
			play: func(w *witness) {
				w.prompt(picturing("k1", "change this", pixel(1)))
				w.until("an approval", func() bool { return len(w.live.Approvals) == 1 })
				w.prompt(picturing("f1", "", pixel(2)))
				w.prompt(picturing("f2", "and these", pixel(2), pixel(3)))
				w.answer(api.DecisionAllow, "")
				for _, key := range []string{"k1", "f1", "f2"} {
					w.untilEnded(key)
				}
			},
			check: func(w *witness, _ string) { w.checkImages(map[string]int{"k1": 1, "f1": 1, "f2": 2}) },
			least: 26,
		},
		"cancel": {
			steps: []modeltest.Step{
				{Content: session.Content{session.Text("half an answer")}, Stall: true},
				modeltest.Calls(bash("c1", "c1", "; echo started; exec sleep 600"), bash("c2", "c2", "")),
				modeltest.Calls(bash("c3", "c3", "")),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "talk"))
				w.until("a partial answer", func() bool { return len(w.live.Partial) > 0 && w.live.Partial[0].Text != "" })
				w.cancel()
				w.untilEnded("k1")
				w.prompt(freely("k2", "run"))
				w.until("output", func() bool { return len(w.live.Tools) > 0 && strings.Contains(w.live.Tools[0].Output, "started") })
				w.cancel()
				w.untilEnded("k2")
				w.prompt(asking("k3", "ask"))
				w.until("an approval", func() bool { return len(w.live.Approvals) == 1 })
				w.cancel()
				w.untilEnded("k3")
			},
			least: 24,
		},
		"compaction": {
			config: "[compaction]\nshare = 0.5\nkeep_tokens = 100\n",
			steps: []modeltest.Step{
				modeltest.Calls(bash("p1", "p1", "")), {Content: session.Content{session.Text(strings.Repeat("a long answer ", 1500))}, Piece: 4000}, modeltest.Say("short"),
				modeltest.Say("brief"),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", strings.Repeat("much to do ", 200)))
				w.prompt(freely("k2", "and then this"))
				w.untilEnded("k2")
				w.until("quiet", w.idle)
				w.prompt(freely("k3", "and this"))
				w.untilEnded("k3")
				tell(w, api.CompactSession, api.CompactSessionRequest{SessionID: w.sessionID, ClientKey: "c"})
				w.until("quiet", w.idle)
			},
			least: 20,
		},
	}
	maps.Copy(scripts, longCrashScripts())
	return scripts
}

// edit gives a waiting prompt another text, and puts it first.
func (w *witness) edit(key, text string) {
	w.t.Helper()
	var request api.EditQueueRequest
	ok := w.until("the queue", func() bool {
		request = api.EditQueueRequest{SessionID: w.sessionID, Items: []api.QueueItem{{ClientKey: key, Text: text}}}
		for _, q := range w.live.Queue {
			request.Expected = append(request.Expected, q.ClientKey)
			if q.ClientKey != key {
				request.Items = append(request.Items, api.QueueItem{ClientKey: q.ClientKey})
			}
		}
		return len(request.Expected) == 3
	})
	if ok {
		_, w.edited = tell(w, api.EditQueue, request)
	}
}
