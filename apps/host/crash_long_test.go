//go:build unix

package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// longCrashScripts are those of turns that wait for others: for people, agents, a summary
// and background jobs.
func longCrashScripts() map[string]crashScript {
	tooLong := modeltest.Fault{Status: 400, Text: "prompt is too long: 9000 tokens > 8000 maximum"}
	const much = "; head -c 12000 /dev/zero | tr '\\\\0' x"
	return map[string]crashScript{
		"questions": {
			steps: []modeltest.Step{
				modeltest.Calls(bash("b1", "b1", ""), clarify("u1"), bash("b2", "b2", "")), modeltest.Say("so it is"),
				modeltest.Calls(clarify("u2"), bash("b3", "b3", "")),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "ask"))
				w.reply("the blue one")
				w.untilEnded("k1")
				w.prompt(freely("k2", "ask again"))
				w.until("a question", func() bool { return len(w.live.Questions) > 0 })
				w.cancel()
				w.untilEnded("k2")
			},
			least: 26,
		},
		"an agent that asks": {
			steps: []modeltest.Step{
				modeltest.Calls(task("d1", "one")), modeltest.Calls(bash("x1", "x1", ""), bash("x2", "x2", "")), modeltest.Say("the report"), modeltest.Say("done"),
			},
			play: func(w *witness) {
				w.prompt(asking("k1", "let one do it"))
				w.answerAgent(api.DecisionAllow)
				w.answerAgent(api.DecisionDeny)
				w.untilEnded("k1")
			},
			least: 36,
		},
		"agents": {
			steps: []modeltest.Step{
				modeltest.Calls(tasks("d1", "one", "two")), modeltest.Calls(bash("x1", "x1", "")), modeltest.Calls(bash("y1", "y1", "")),
				modeltest.Say("the report"), modeltest.Say("the other report"), modeltest.Say("done"),
				modeltest.Calls(task("d2", "three")), modeltest.Calls(bash("z1", "z1", "; (exec 9>held; flock 9; sleep 600) & echo started; wait")),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "let them do it"))
				w.untilEnded("k1")
				w.prompt(freely("k2", "let one more do it"))
				w.until("an agent that runs a command", func() bool {
					return slices.ContainsFunc(w.agents(), func(c api.SubagentChild) bool { return c.Doing == "bash" })
				})
				w.cancel()
				w.untilEnded("k2")
			},
			least: 70, stride: 3, // an agent and its parent at every point are above
		},
		"a prompt too long": {
			config: "[compaction]\nkeep_tokens = 100\n",
			steps: []modeltest.Step{
				modeltest.Calls(bash("p1", "p1", much)), modeltest.Calls(bash("p2", "p2", "")),
				{Content: session.Content{bash("p3", "p3", "")}, Faults: []modeltest.Fault{tooLong, tooLong}}, modeltest.Say("done"),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "do much"))
				w.untilEnded("k1")
			},
			least: 18,
		},
		"a background job": {
			steps: []modeltest.Step{
				modeltest.Calls(modeltest.Call("g1", "bash", `{"background":true,"command":"echo g1 >> ran; (exec 9>held; flock 9; touch begun; sleep 600; echo g1 >> ran) & wait"}`)),
				modeltest.Calls(modeltest.Call("g2", "bash_job", `{"action":"poll","job":"job1"}`)), modeltest.Say("it runs"),
				modeltest.Calls(modeltest.Call("g3", "bash_job", `{"action":"list"}`)), modeltest.Say("it runs on"),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "begin"))
				w.untilEnded("k1")
				w.prompt(freely("k2", "look"))
				w.untilEnded("k2")
			},
			least: 18,
			check: checkLostJob,
		},
		"a background job that notifies": {
			steps: []modeltest.Step{
				modeltest.Calls(modeltest.Call("g1", "bash", `{"background":true,"notify_on_complete":true,"command":"echo g1 >> ran; (exec 9>held; flock 9; sleep 600) & wait"}`)),
				modeltest.Say("it runs"),
			},
			play: func(w *witness) {
				w.prompt(freely("k1", "begin"))
				w.untilEnded("k1")
			},
			least: 10,
			check: checkWakingJob,
		},
	}
}

func clarify(id string) session.Block {
	return modeltest.Call(id, "clarify", `{"question":"Which one?","choices":["red","blue"]}`)
}

func task(id, text string) session.Block {
	return modeltest.Call(id, "delegate_task", `{"agent":"general","prompt":"`+text+`"}`)
}

func tasks(id string, texts ...string) session.Block {
	var list []string
	for _, text := range texts {
		list = append(list, `{"agent":"general","prompt":"`+text+`"}`)
	}
	return modeltest.Call(id, "delegate_parallel", `{"tasks":[`+strings.Join(list, ",")+`]}`)
}

// reply waits for a question and answers it.
func (w *witness) reply(answer string) {
	w.t.Helper()
	var q api.Question
	ok := w.until("a question", func() bool {
		if len(w.live.Questions) > 0 {
			q = w.live.Questions[0]
			delete(w.asked, q.ID) // whether or not the answer comes through
		}
		return q.ID != ""
	})
	if !ok {
		return
	}
	tell(w, api.AnswerQuestion, api.AnswerQuestionRequest{SessionID: w.sessionID, QuestionID: q.ID, Answer: answer})
}

// agents are those that work for the session. It is for until.
func (w *witness) agents() (all []api.SubagentChild) {
	for _, batch := range w.live.Subagents {
		all = append(all, batch.Children...)
	}
	return all
}

// answerAgent waits for the next approval of an agent and answers it.
func (w *witness) answerAgent(decision api.Decision) {
	w.t.Helper()
	var request api.AnswerApprovalRequest
	ok := w.until("an approval of an agent", func() bool {
		for _, child := range w.agents() {
			for _, a := range child.Approvals {
				if !w.answered[a.ID] {
					request = api.AnswerApprovalRequest{SessionID: child.SessionID, ApprovalID: a.ID, Decision: decision}
				}
			}
		}
		return request.ApprovalID != ""
	})
	if ok {
		w.answered[request.ApprovalID] = true
		tell(w, api.AnswerApproval, request)
	}
}

// checkSubagents looks at the agents of the session: all have ended, as the log of the session
// says, and in their own logs nothing is missing or there twice.
func (w *witness) checkSubagents(h *host.Host, ran map[string]int) {
	w.t.Helper()
	c := dial(w.t, h, nil)
	for _, s := range call(w.t, c, api.ListSessions, api.ListSessionsRequest{All: true}).Sessions {
		if s.ID == w.sessionID {
			continue
		}
		r := call(w.t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.ID})
		accountOf(w.t, r.Entries).checkCalls(ran)
		if r.Live.Turn != nil || len(r.Live.Queue) > 0 || len(r.Live.Approvals) > 0 {
			w.t.Errorf("a subagent is still running: %+v", r.Live)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	states := map[string]session.ChildState{}
	for _, entry := range w.entries {
		var record session.SubagentRecord
		if custom, ok := entry.AsCustom(); ok && custom.CustomType == session.CustomSubagents {
			if err := json.Unmarshal(custom.Data, &record); err != nil {
				w.t.Fatal(err)
			}
		}
		for _, member := range record.Members {
			states[record.ToolCallID+" "+member.Title] = member.State
		}
	}
	for agent, state := range states {
		if !state.Ended() {
			w.t.Errorf("the log says last of the agent of %s that it is %s", agent, state)
		}
	}
	if len(w.live.Subagents) > 0 {
		w.t.Errorf("agents are shown that have ended: %+v", w.live.Subagents)
	}
}

// checkNothingRuns looks for commands that outlived their host: they hold a lock. Only
// Linux knows them again.
func checkNothingRuns(t *testing.T, project string) {
	t.Helper()
	held, err := os.Open(filepath.Join(project, "held"))
	if os.IsNotExist(err) || runtime.GOOS != "linux" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("a command runs on: %v", err)
	}
}

// checkLostJob: if the model knows of a job, it learns once that the job is lost.
func checkLostJob(w *witness, asked string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	notes := 0
	for _, entry := range w.entries {
		if entry.CustomType == session.CustomNote && strings.Contains(string(entry.Raw), "no longer has these background jobs") {
			notes++
		}
	}
	began := strings.HasPrefix(w.account().results["g1"], "Started as background job")
	if want := map[bool]int{true: 1}[began]; notes != want || strings.Contains(asked, "these background jobs") != began {
		w.t.Errorf("%d notes of lost jobs are in the log, want %d; the model received the note: %v", notes, want, strings.Contains(asked, "these background jobs"))
	}
}

// checkWakingJob: if the model knows of a job that was to notify it, one turn that no one
// asked for tells that the job is lost, whichever hosts died on the way.
func checkWakingJob(w *witness, asked string) {
	w.t.Helper()
	checkLostJob(w, asked)
	w.mu.Lock()
	defer w.mu.Unlock()
	turnID := ""
	for _, entry := range w.entries {
		if read.Waking(entry) {
			turnID = entry.Text("turnId")
		}
	}
	messages := ""
	for _, entry := range w.entries {
		if m, ok := entry.AsMessage(); ok && m.TurnID == turnID {
			messages += string(m.Message.Role) + " " + m.Message.Content.Plain() + "; "
		}
	}
	began := strings.HasPrefix(w.account().results["g1"], "Started as background job")
	if want := map[bool]string{true: "assistant ok; "}[began]; (turnID != "") != began || messages != want {
		w.t.Errorf("the turn %q of the lost job has the messages %q, want %q", turnID, messages, want)
	}
}
