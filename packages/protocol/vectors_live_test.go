package protocol_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// liveCase is a run of events on an idle session and the Live that they make.
type liveCase struct {
	Name   string            `json:"name"`
	Events []json.RawMessage `json:"events"`
	Live   json.RawMessage   `json:"live"`
}

func TestVectorsLive(t *testing.T) {
	var content struct {
		Cases []liveCase `json:"cases"`
	}
	for _, run := range append(liveRuns(), questionRuns()...) {
		c := liveCase{Name: run.name}
		live := api.NewLive()
		for i, fields := range run.events {
			text := fmt.Sprintf(`{"type":%q,"sessionId":"s","seq":%d%s}`, fields[0], i+1, comma(fields[1]))
			var e api.EventEnvelope
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatalf("%s: %s: %v", run.name, text, err)
			}
			before, copied := encodeLive(t, live), live.Clone()
			live.Apply(e.Event)
			if after := encodeLive(t, copied); after != before {
				t.Errorf("%s: applying %s changed a copy from %s to %s", run.name, text, before, after)
			}
			c.Events = append(c.Events, json.RawMessage(text))
		}
		c.Live = json.RawMessage(encodeLive(t, live))
		if string(c.Live) != run.want {
			t.Errorf("%s: %s, want %s", run.name, c.Live, run.want)
		}
		content.Cases = append(content.Cases, c)
	}
	checkFile(t, "live.json", content)
}

func comma(fields string) string {
	if fields == "" {
		return ""
	}
	return "," + fields
}

func encodeLive(t *testing.T, live api.Live) string {
	t.Helper()
	text, err := session.Encode(live)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type liveRun struct {
	name   string
	events [][2]string // type, fields
	want   string
}

// state writes a Live; an argument that is empty is an empty list, or no turn.
func state(turn, partial, tools, approvals, queue string) string {
	if turn == "" {
		turn = "null"
	}
	return fmt.Sprintf(`{"turn":%s,"partial":[%s],"tools":[%s],"approvals":[%s],"questions":[],"queue":[%s],"work":null,"crew":[],"processes":[]}`, turn, partial, tools, approvals, queue)
}

// processState is an operation as it is live.
func processState(id, message string, sequence int) string {
	return fmt.Sprintf(`{"toolCallId":"c1","startedAt":5,"processLogRef":"plog:s:%s","last":{"version":1,"operationId":%q,"targetType":"skill","source":"convert","status":"running","level":"info","message":%q,"current":1,"total":4,"timestamp":6,"sequence":%d,"repeats":2}}`,
		id, id, message, sequence)
}

func process(id, message string, sequence int) [2]string {
	return [2]string{"process_event", `"process":` + processState(id, message, sequence)}
}

// processes is a session in which only operations run; each takes three
// arguments.
func processes(arguments ...any) string {
	var list []string
	for p := range slices.Chunk(arguments, 3) {
		list = append(list, processState(p[0].(string), p[1].(string), p[2].(int)))
	}
	return strings.Replace(state("", "", "", "", ""), `"processes":[]`, `"processes":[`+strings.Join(list, ",")+`]`, 1)
}

func processRecord(id string) [2]string {
	return [2]string{"entry_appended", fmt.Sprintf(`"entry":{"type":"custom","customType":"scorel.process","data":{"operationId":%q,"targetType":"skill","source":"convert","status":"completed","startedAt":5,"endedAt":7,"lines":[],"processLogRef":"plog:s:%s"},"id":"00000001","parentId":null,"timestamp":"2026-01-02T03:04:05.678Z"}`, id, id)}
}

// withSubagents puts a batch into a Live without one.
func withSubagents(live, batch string) string {
	return strings.Replace(live, `"crew":[]`, `"crew":[`+batch+`]`, 1)
}

// withRetry puts a retry into a Live without one.
func withRetry(live, retry string) string {
	return strings.Replace(live, `"tools":`, `"retry":`+retry+`,"tools":`, 1)
}

func liveRuns() []liveRun {
	const turn = `{"turnId":"t1","clientKey":"k1","startedAt":5}`
	const work = `{"kind":"compaction","startedAt":8}`
	started := [2]string{"turn_started", `"turn":` + turn}
	text := [2]string{"block_started", `"index":0,"block":"text"`}
	call := [2]string{"block_started", `"index":1,"block":"toolCall","id":"c1","name":"bash"`}
	tool := [2]string{"tool_started", `"toolCallId":"c1","toolName":"bash"`}
	delta := func(index int, s string) [2]string {
		return [2]string{"block_delta", fmt.Sprintf(`"index":%d,"delta":%q`, index, s)}
	}
	output := func(s string) [2]string {
		return [2]string{"tool_output", fmt.Sprintf(`"toolCallId":"c1","delta":%q`, s)}
	}
	message := func(fields string) [2]string {
		return [2]string{"entry_appended", `"entry":{"type":"message","id":"e","parentId":null,"message":{` + fields + `}}`}
	}
	const approval = `{"id":"a1","turnId":"t1","toolCallId":"c1","toolName":"bash","title":"run ls","detail":"ls","cwd":"/x","createdAt":6}`
	const queued = `{"clientKey":"k2","clientId":"cli_x","text":"later","queuedAt":7}`
	streaming := [][2]string{started, {"message_started", ""}, text, delta(0, "Hel"), delta(0, "lo"), call, delta(1, "{}")}
	const partial = `{"type":"text","text":"Hello"},{"type":"toolCall","text":"{}","id":"c1","name":"bash"}`
	const retry = `{"reason":"overloaded","attempt":2,"attempts":4,"delayMs":2000}`
	reset := [2]string{"message_reset", `"reason":"overloaded","retry":` + retry}
	child := func(state, more string) string {
		return `{"sessionId":"s2","agent":"explore","title":"look around","state":"` + state + `"` + more + `}`
	}
	batch := func(child string) string {
		return `{"toolCallId":"c1","entryId":"e1","startedAt":9,"children":[` + child + `]}`
	}
	subagents := [2]string{"crew_started", `"batch":` + batch(child("queued", ""))}
	long, kept := strings.Repeat("€", api.MaxToolTail/3), strings.Repeat("€", api.MaxToolTail/3-1)
	return []liveRun{
		{"idle", nil, state("", "", "", "", "")},
		{"a message streams", streaming, state(turn, partial, "", "", "")},
		{"the attempt is made again", append(slices.Clone(streaming), [2]string{"message_reset", `"reason":"overloaded"`}), state(turn, "", "", "", "")},
		{"the attempt is made again after a pause", append(slices.Clone(streaming), reset), withRetry(state(turn, "", "", "", ""), retry)},
		{"the next attempt fails without another", append(slices.Clone(streaming), reset, [2]string{"message_reset", `"reason":"cancelled"`}), state(turn, "", "", "", "")},
		{"the next attempt answers", [][2]string{started, reset, text, delta(0, "Hello"), call, delta(1, "{}")}, state(turn, partial, "", "", "")},
		{"the next call begins", [][2]string{started, reset, {"message_started", ""}}, state(turn, "", "", "", "")},
		{"the next attempt is the message", [][2]string{started, reset, message(`"role":"assistant","content":[],"timestamp":1`)}, state(turn, "", "", "", "")},
		{"the turn ends before the next attempt", [][2]string{started, reset, {"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"aborted"`}}, state("", "", "", "", "")},
		{"the message is complete", append(slices.Clone(streaming), message(`"role":"assistant","content":[],"timestamp":1`)), state(turn, "", "", "", "")},
		{"a user message changes nothing", append(slices.Clone(streaming), message(`"role":"user","content":"x","timestamp":1`)), state(turn, partial, "", "", "")},
		{"deltas for blocks that are not there", [][2]string{text, delta(1, "x"), delta(-1, "y"), call, delta(7, "z")},
			state("", `{"type":"text","text":""},{"type":"toolCall","text":"","id":"c1","name":"bash"}`, "", "", "")},
		{"a block out of order", [][2]string{call, text, text}, state("", `{"type":"text","text":""}`, "", "", "")},
		{"a tool runs", [][2]string{started, tool, output("a\n"), output("b")}, state(turn, "", `{"toolCallId":"c1","toolName":"bash","output":"a\nb"}`, "", "")},
		{"a tool has its result", [][2]string{tool, output("a"), message(`"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"isError":false,"timestamp":1`)}, state("", "", "", "", "")},
		{"the result of another tool", [][2]string{tool, message(`"role":"toolResult","toolCallId":"c9","toolName":"bash","content":[],"isError":false,"timestamp":1`)},
			state("", "", `{"toolCallId":"c1","toolName":"bash","output":""}`, "", "")},
		{"the tail of long output is cut at a character", [][2]string{tool, output(long), output("zz")},
			state("", "", `{"toolCallId":"c1","toolName":"bash","output":"`+kept+`zz"}`, "", "")},
		{"approval asked", [][2]string{{"approval_requested", `"approval":` + approval}}, state("", "", "", approval, "")},
		{"approval answered", [][2]string{{"approval_requested", `"approval":` + approval}, {"approval_resolved", `"approvalId":"a1","decision":"allow","decidedBy":"host"`}}, state("", "", "", "", "")},
		{"another approval answered", [][2]string{{"approval_requested", `"approval":` + approval}, {"approval_resolved", `"approvalId":"a2","decision":"deny","decidedBy":"host"`}}, state("", "", "", approval, "")},
		{"queue replaced", [][2]string{{"queue_changed", `"queue":[` + queued + `,` + queued + `]`}, {"queue_changed", `"queue":[` + queued + `]`}}, state("", "", "", "", queued)},
		{"queue emptied", [][2]string{{"queue_changed", `"queue":[` + queued + `]`}, {"queue_changed", `"queue":[]`}}, state("", "", "", "", "")},
		{"cancelling", [][2]string{started, {"turn_cancelling", `"turnId":"t1"`}}, state(strings.TrimSuffix(turn, "}")+`,"cancelling":true}`, "", "", "", "")},
		{"cancelling another turn", [][2]string{started, {"turn_cancelling", `"turnId":"t2"`}, {"turn_cancelling", `"turnId":""`}}, state(turn, "", "", "", "")},
		{"the turn ends", append(slices.Clone(streaming), tool, [2]string{"approval_requested", `"approval":` + approval}, [2]string{"queue_changed", `"queue":[` + queued + `]`},
			[2]string{"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"stop"`}), state("", "", "", "", queued)},
		{"work begins", [][2]string{{"work_started", `"work":` + work}}, strings.Replace(state("", "", "", "", ""), `"work":null`, `"work":`+work, 1)},
		{"work ends", [][2]string{{"work_started", `"work":` + work}, {"work_ended", `"kind":"compaction"`}}, state("", "", "", "", "")},
		{"a turn leaves work alone", [][2]string{{"work_started", `"work":` + work}, started, {"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"stop"`}},
			strings.Replace(state("", "", "", "", ""), `"work":null`, `"work":`+work, 1)},
		{"other agents begin", [][2]string{started, subagents}, withSubagents(state(turn, "", "", "", ""), batch(child("queued", "")))},
		{"one of them works and asks", [][2]string{subagents, {"crew_updated", `"toolCallId":"c1","index":0,"child":` + child("running", `,"doing":"bash","approvals":[`+approval+`]`)}},
			withSubagents(state("", "", "", "", ""), batch(child("running", `,"doing":"bash","approvals":[`+approval+`]`)))},
		{"a child that is not there", [][2]string{subagents, {"crew_updated", `"toolCallId":"c1","index":1,"child":` + child("running", "")},
			{"crew_updated", `"toolCallId":"c2","index":0,"child":` + child("running", "")}, {"crew_ended", `"toolCallId":"c2"`}},
			withSubagents(state("", "", "", "", ""), batch(child("queued", "")))},
		{"the same call begins again", [][2]string{subagents, subagents}, withSubagents(state("", "", "", "", ""), batch(child("queued", "")))},
		{"other agents end", [][2]string{subagents, {"crew_ended", `"toolCallId":"c1"`}}, state("", "", "", "", "")},
		{"other agents end with the turn", [][2]string{started, subagents, {"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"stop"`}}, state("", "", "", "", "")},
		{"an operation reports", [][2]string{process("op_1", "a", 1), process("op_2", "b", 1), process("op_1", "c", 2)}, processes("op_1", "c", 2, "op_2", "b", 1)},
		{"a turn leaves operations alone", [][2]string{process("op_1", "a", 1), {"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"stop"`}}, processes("op_1", "a", 1)},
		{"the record of an operation is kept", [][2]string{process("op_1", "a", 1), process("op_2", "b", 1), processRecord("op_1"), processRecord("op_3")}, processes("op_2", "b", 1)},
		{"an event of a newer host", [][2]string{started, {"moon_phase", `"n":1`}}, state(turn, "", "", "", "")},
	}
}

// questionRuns are those with questions of the agent, and with who is there to answer.
func questionRuns() []liveRun {
	const question = `{"id":"q1","turnId":"t1","toolCallId":"c2","question":"which?","choices":["a","b"],"createdAt":6,"deadline":9}`
	asked := [2]string{"question_asked", `"question":` + question}
	withQuestion := strings.Replace(state("", "", "", "", ""), `"questions":[]`, `"questions":[`+question+`]`, 1)
	nobody := [2]string{"attendance_changed", `"unattended":true`}
	return []liveRun{
		{"a question", [][2]string{asked}, withQuestion},
		{"a question answered", [][2]string{asked, {"question_answered", `"questionId":"q1","outcome":"answered","answer":"a","answeredBy":"host"`}}, state("", "", "", "", "")},
		{"another question answered", [][2]string{asked, {"question_answered", `"questionId":"q2","outcome":"timed_out","answeredBy":"host"`}}, withQuestion},
		{"nobody watches", [][2]string{asked, nobody}, strings.Replace(withQuestion, `"queue":[]`, `"queue":[],"unattended":true`, 1)},
		{"somebody watches again", [][2]string{asked, nobody, {"attendance_changed", `"unattended":false`}}, withQuestion},
		{"the turn of a question ends", [][2]string{asked, nobody, {"turn_ended", `"turnId":"t1","clientKey":"k1","stopReason":"stop"`}}, state("", "", "", "", "")},
	}
}
