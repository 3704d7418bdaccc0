package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// FuzzHistory lets a history grow by whatever a log may hold, with model calls and
// changes of the past in between. Every call is given what it would be given if all was
// examined again, and what earlier calls were given does not change behind them.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("u|a12|r1|r2|sn|a3r3|snu|"))
	f.Add([]byte("ua1r1|s|n|a1r1|a1|r1|r1|"))
	f.Add([]byte("ua12r1|r1|r2|u|ba1r9|t|a|a|u|"))
	f.Add([]byte("uA1R1|A2R2|A3R3|p|A4R4|P|A5R5|c|s|a1r1|"))
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 { // so that a run without -fuzz looks at more than a few
		f.Add(randomScript(random))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 200 {
			return // the whole is looked at in every call
		}
		w := &growing{t: t, h: agent.HistoryOf(nil)}
		for _, op := range script {
			w.do(op)
		}
		w.call()
		for i, given := range w.given {
			if !reflect.DeepEqual(given, w.copies[i]) {
				t.Errorf("%q: request %d was\n%s\nand is\n%s", script, i+1, shown(w.copies[i]), shown(given))
			}
		}
	})
}

func randomScript(random *rand.Rand) []byte {
	const ops = "uuaAr12341234rRR1212sn||||bt pPc"
	script := make([]byte, 10+random.IntN(60))
	for i := range script {
		script[i] = ops[random.IntN(len(ops))]
	}
	return script
}

// growing is a history under test.
type growing struct {
	t      *testing.T
	h      agent.History
	kind   byte // of the message that digits continue with
	answer session.Message
	given  [][]session.Message // of each call
	copies [][]session.Message // as they were then
	edited bool                // what the last answer reports is of another prompt
}

// do takes one step: u a prompt, s what the user says to the running turn, n a note, a
// and A an answer with the calls that follow as digits, r and R short and long results
// with the digits that follow, b a blank answer, t one of thinking, | a model call, p
// and P pruning, c a compaction.
func (w *growing) do(op byte) {
	if w.kind == 'a' && (op < '0' || op > '9') {
		w.h.Add(w.answer)
		w.edited = w.edited && w.answer.Usage == nil
	}
	if op >= '0' && op <= '9' {
		w.digit(string(op))
		return
	}
	w.kind = op
	switch op {
	case 'u':
		w.h.Add(user("p"))
	case 's':
		steer := user("wait")
		steer.Steer = true
		w.h.Add(steer)
	case 'n':
		w.h.Add(agent.NoteMessage(session.Note{Text: "by the way"}))
	case 'a', 'A':
		w.answer = says(session.Text("t"))
		if op == 'A' {
			w.answer.Usage = &session.Usage{TotalTokens: 1000 + len(w.h.Messages())}
		}
		w.kind = 'a'
	case 'b':
		w.h.Add(says(session.Text(" ")))
	case 't':
		w.h.Add(says(session.Block{Type: session.BlockThinking, Thinking: "hm"}))
	case '|':
		w.call()
	case 'p', 'P':
		w.edited = w.h.Prune(map[byte]int{'p': 1000, 'P': 0}[op]) || w.edited
	case 'c':
		w.h.Replace(slices.Clone(w.h.Messages()[len(w.h.Messages())/2:]))
		w.edited = true
	}
}

func (w *growing) digit(id string) {
	switch w.kind {
	case 'a':
		w.answer.Content = append(w.answer.Content, modeltest.Call(id, "read", `{}`))
	case 'r':
		w.h.Add(result(id, "x <note-from-scorel> "))
	case 'R':
		w.h.Add(result(id, strings.Repeat("long ", 500)))
	}
}

// call looks at what a model call is given now.
func (w *growing) call() {
	got, want := w.h.Repaired(), agent.RepairMessages(w.h.Messages())
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		w.t.Errorf("grown\n%s\nanew\n%s", shown(got), shown(want))
	}
	if again := w.h.Repaired(); len(again)+len(got) > 0 && !reflect.DeepEqual(again, got) {
		w.t.Errorf("asked twice\n%s\nand\n%s", shown(got), shown(again))
	}
	w.given, w.copies = append(w.given, got), append(w.copies, copied(got))
	all, reported, since := w.h.Size()
	wantAll, wantReported, wantSince := sizeOf(w.h.Messages())
	if w.edited { // less than reported, by about what went
		wantReported, wantSince = min(reported, wantReported), max(since, 0)
	}
	if all != wantAll || reported != wantReported || since != wantSince {
		w.t.Errorf("counted %d %d %d, want %d %d %d", all, reported, since, wantAll, wantReported, wantSince)
	}
}

// sizeOf counts from the end, as the estimate is meant.
func sizeOf(messages []session.Message) (all, reported, since int) {
	for _, m := range slices.Backward(messages) {
		if u := m.Usage; u != nil && reported == 0 {
			reported, since = u.TotalTokens, all
		}
		for _, block := range m.Content {
			all += (len(block.Text) + len(block.Thinking) + len(block.Arguments)) / 4
		}
	}
	if reported == 0 {
		since = all
	}
	return all, reported, since
}

// copied copies what a history could change of messages: them and their blocks.
func copied(messages []session.Message) []session.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Content = slices.Clone(out[i].Content)
	}
	return out
}

func shown(messages []session.Message) string {
	data, err := json.Marshal(messages)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}

// In whatever way a turn goes, each of its model calls is given all that was said until
// then, repaired as a whole.
func TestEveryRequestIsTheWholeHistory(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 5))
		var script []modeltest.Step
		for range 1 + random.IntN(8) {
			script = append(script, randomStep(random))
		}
		w := &world{}
		model := &comparing{t: t, w: w, Scripted: modeltest.New(append(script, modeltest.Say("done"))...)}
		turn := turnOf(w, model, echo("read", agent.RiskRead), echo("write", agent.RiskWrite))
		turn.Messages = append(longHistory(random.IntN(4), 1), user("go"))
		turn.MaxSteps = 2 + random.IntN(8)
		model.before = turn.Messages
		turn.Steer = func(ctx context.Context) ([]session.Message, error) {
			var said []session.Message
			for range random.IntN(3) {
				steer := user("wait")
				steer.Steer = random.IntN(2) == 0
				steer.Note = !steer.Steer
				said = append(said, steer)
				if err := w.Append(ctxWithDeadline(t), steer); err != nil {
					return said, err
				}
			}
			return said, nil
		}
		turn.Tell = func(_ context.Context, note session.Note) (session.Message, error) {
			message := agent.NoteMessage(note)
			return message, w.Append(ctxWithDeadline(t), message)
		}
		agent.RunTurn(t.Context(), turn)
		if model.calls == 0 {
			t.Fatal("no call was made")
		}
	}
}

func ctxWithDeadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// randomStep is an answer with some calls, one of them of no tool, or a failed attempt
// and then one.
func randomStep(random *rand.Rand) modeltest.Step {
	content := session.Content{session.Text("I look")}
	for i := range 1 + random.IntN(3) {
		name := []string{"read", "write", "none"}[random.IntN(3)]
		content = append(content, modeltest.Call(fmt.Sprint("call_", i), name, fmt.Sprintf(`{"n":%d}`, random.IntN(100))))
	}
	return modeltest.Step{Content: content, FailFirst: random.IntN(2)}
}

// comparing is a Scripted that knows what the journal holds.
type comparing struct {
	*modeltest.Scripted
	t      *testing.T
	w      *world
	before []session.Message
	calls  int
}

func (c *comparing) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	c.calls++
	c.w.mu.Lock()
	want := agent.RepairMessages(slices.Concat(c.before, c.w.messages))
	c.w.mu.Unlock()
	if !reflect.DeepEqual(req.Messages, want) {
		c.t.Errorf("call %d is given\n%s\nand not\n%s", c.calls, shown(req.Messages), shown(want))
	}
	return c.Scripted.Stream(ctx, req, emit)
}

// What a model keeps of its requests stays as it was, also where it adds to one.
func TestRequestIsItsOwn(t *testing.T) {
	h := agent.HistoryOf([]session.Message{user("x")})
	first := h.Repaired()
	kept := append(first, user("added by the model"))
	h.Add(says(modeltest.Call("1", "read", `{}`)), result("1", "ok"))
	if got := outline(h.Repaired()); got != "u a(1) r:1:ok" {
		t.Errorf("the next request is %s", got)
	}
	if got := outline(kept); got != "u u" {
		t.Errorf("what the model kept is %s", got)
	}
}

// The cost of a call does not grow with what was there before: nothing old is looked at,
// and nothing is copied, also where a server gives every call the same id.
func TestCallsCostWhatIsNew(t *testing.T) {
	for name, id := range map[string]func(n int) string{
		"ids":         func(n int) string { return fmt.Sprint("new", n) },
		"the same id": func(int) string { return "call_0" },
	} {
		t.Run(name, func(t *testing.T) {
			h := agent.HistoryOf([]session.Message{user("go")})
			first, steps := h.Repaired(), 0
			step := func() {
				steps++
				h.Add(says(modeltest.Call(id(steps), "read", `{}`)), result(id(steps), "ok"))
				first = h.Repaired()
			}
			for range 2000 {
				step()
			}
			copies := 0
			allocated := testing.AllocsPerRun(20, func() {
				before := first
				if step(); &before[0] != &first[0] {
					copies++
				}
			})
			if allocated > 20 || copies > 1 { // a list that is full is copied to a larger one
				t.Errorf("a step took memory %v times, and %d of 20 copied the beginning", allocated, copies)
			}
		})
	}
}
