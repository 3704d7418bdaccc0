package sessions_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	hoststate "github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hooked is a fixture with hooks of config.toml. Each command runs in the project's folder.
func hooked(t *testing.T, steps []modeltest.Step, risk agent.Risk, hooks ...hoststate.Hook) (*fixture, *counted) {
	t.Helper()
	tool := &counted{echoTool: echoTool{risk}}
	f := newFixture(t, modeltest.New(steps...), tool)
	f.deps.Permissions = &allowed{}
	f.use(hooks...)
	return f, tool
}

// use has the sessions of managers that follow use hooks.
func (f *fixture) use(hooks ...hoststate.Hook) {
	f.deps.Hooks = hook.New(hook.Options{
		Logger: slog.New(slog.DiscardHandler), Hooks: hooks, Environ: os.Environ, Trusted: func(string) bool { return true },
	})
}

// received waits for a file that a hook writes as a whole.
func (f *fixture) received(name string) (text string) {
	for range time.Tick(5 * time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(f.project.Path, name)); err == nil {
			return string(data)
		}
	}
	return ""
}

func oneCall() []modeltest.Step {
	return []modeltest.Step{modeltest.Calls(modeltest.Call("c1", "echo", `{"a":1}`)), modeltest.Say("done")}
}

// play sends a prompt in a mode, and waits until the turn has ended or waits for a person.
func play(t *testing.T, f *fixture, mode api.Mode) (*sessions.Session, *watcher) {
	t.Helper()
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	if err := s.SetMode(t.Context(), "cli_x", mode); err != nil {
		t.Fatal(err)
	}
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 || len(w.live.Approvals) == 1 })
	return s, w
}

func hookRecords(w *watcher) []session.HookRecord {
	return read(w, func() (list []session.HookRecord) {
		for _, e := range w.entries {
			custom, ok := e.AsCustom()
			var record session.HookRecord
			if ok && custom.CustomType == session.CustomHook && json.Unmarshal(custom.Data, &record) == nil {
				list = append(list, record)
			}
		}
		return list
	})
}

func hookOutcomes(w *watcher) (list []string) {
	for _, r := range hookRecords(w) {
		list = append(list, r.Event+" "+r.Outcome)
	}
	return list
}

// log is what hooks of the fixture wrote.
func (f *fixture) log(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.project.Path, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// TestAHookDeniesACall in every mode, and also one that only reads.
func TestAHookDeniesACall(t *testing.T) {
	for _, risk := range []agent.Risk{agent.RiskWrite, agent.RiskRead} {
		f, tool := hooked(t, oneCall(), risk, hoststate.Hook{Name: "guard", Event: "before_tool", Tools: []string{"echo"}, Command: `echo "not that" >&2; exit 2`})
		_, w := play(t, f, api.ModeBypass)
		if tool.count() != 0 || resultText(w, "c1") != `Denied: the hook "guard" denied this call: not that` {
			t.Errorf("%d runs; the model reads %q", tool.count(), resultText(w, "c1"))
		}
		records := hookRecords(w)
		if len(records) != 1 || records[0].Outcome != session.HookDenied || records[0].Hook != "guard" || records[0].Text != "not that" || records[0].ToolCallID != "c1" {
			t.Errorf("records: %+v", records)
		}
	}
}

// TestAHookAsksAboutACall that the mode allows; no rule is offered, since the hook would ask
// again. One that hangs, crashes or answers with nonsense asks as well.
func TestAHookAsksAboutACall(t *testing.T) {
	for command, why := range map[string]string{
		`echo '{"decision":"ask","reason":"look twice"}'`: `the hook "guard" asks: look twice`,
		`exit 1`:                     `the hook "guard" failed: it ended with exit code 1`,
		`yes`:                        `the hook "guard" failed: it printed more than 64 KiB and was stopped`,
		`sleep 1000`:                 `the hook "guard" failed: it did not end within 1 s and was stopped`,
		`echo '{"decision":"yes!"}'`: `the hook "guard" failed: it answered with the unknown decision "yes!"`,
	} {
		t.Run(strings.Fields(command)[0], func(t *testing.T) {
			f, tool := hooked(t, oneCall(), agent.RiskWrite, hoststate.Hook{Name: "guard", Event: "before_tool", Command: command, Timeout: 1})
			s, w := play(t, f, api.ModeBypass)
			approval := read(w, func() api.Approval { return w.live.Approvals[0] })
			if approval.Reason != why || len(approval.ProposedRules) != 0 || slices.Contains(approval.Options, api.DecisionAlways) || tool.count() != 0 {
				t.Errorf("%+v after %d runs", approval, tool.count())
			}
			answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: approval.ID, Decision: api.DecisionAllow})
			w.wait(func() bool { return w.ended == 1 })
			if tool.count() != 1 {
				t.Errorf("%d runs", tool.count())
			}
		})
	}
}

// TestAFailedHookBesideOthers has a person asked, with what the others ask, and keeps none from
// denying.
func TestAFailedHookBesideOthers(t *testing.T) {
	fails := hoststate.Hook{Name: "first", Event: "before_tool", Command: `exit 1`}
	asks := hoststate.Hook{Name: "second", Event: "before_tool", Command: `echo '{"decision":"ask","reason":"look twice"}'`}
	denies := hoststate.Hook{Name: "third", Event: "before_tool", Command: `echo no >&2; exit 2`}
	f, tool := hooked(t, oneCall(), agent.RiskRead, fails, asks)
	_, w := play(t, f, api.ModeBypass)
	want := `the hook "first" failed: it ended with exit code 1; the hook "second" asks: look twice`
	if got := read(w, func() string { return w.live.Approvals[0].Reason }); got != want || tool.count() != 0 {
		t.Errorf("%d runs, waiting for %q", tool.count(), got)
	}

	f, tool = hooked(t, oneCall(), agent.RiskRead, fails, denies)
	_, w = play(t, f, api.ModeBypass)
	if got := resultText(w, "c1"); tool.count() != 0 || got != `Denied: the hook "third" denied this call: no` {
		t.Errorf("%d runs; the model reads %q", tool.count(), got)
	}
}

// TestAHookCannotAllow what a rule forbids or the mode asks for.
func TestAHookCannotAllow(t *testing.T) {
	liar := hoststate.Hook{Event: "before_tool", Command: `echo x >> log; echo '{"decision":"allow","hookSpecificOutput":{"permissionDecision":"allow","decision":{"behavior":"allow"}}}'`}
	other := liar
	other.Event = "approval"
	f, tool := hooked(t, oneCall(), agent.RiskWrite, liar, other)
	s, w := play(t, f, api.ModeAsk)
	if tool.count() != 0 || read(w, func() int { return len(w.live.Approvals) }) != 1 {
		t.Errorf("%d runs", tool.count())
	}
	if _, err := s.CancelTurn(t.Context(), read(w, func() string { return w.live.Turn.TurnID })); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 1 })

	f, tool = hooked(t, oneCall(), agent.RiskWrite, liar)
	_, w = play(t, f, api.ModePlan) // denies every change
	if tool.count() != 0 || len(f.log(t)) != 0 || !strings.HasPrefix(resultText(w, "c1"), agent.TextForbidden) {
		t.Errorf("%d runs, hooks %v; the model reads %q", tool.count(), f.log(t), resultText(w, "c1"))
	}
}

// TestAFaultIsSaidOnce in a turn.
func TestAFaultIsSaidOnce(t *testing.T) {
	f, _ := hooked(t, []modeltest.Step{
		modeltest.Calls(modeltest.Call("c1", "echo", `{"a":1}`), modeltest.Call("c2", "echo", `{"a":2}`)), modeltest.Say("done"),
	}, agent.RiskRead, hoststate.Hook{Name: "after", Event: "after_tool", Command: `exit 1`})
	_, w := play(t, f, api.ModeAsk)
	if got := hookOutcomes(w); !slices.Equal(got, []string{"after_tool failed"}) {
		t.Errorf("records: %v", got)
	}
}

// TestContextOfHooks reaches the model in the log's order, and the hooks of a start run once.
func TestContextOfHooks(t *testing.T) {
	model := modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done"), modeltest.Say("again"))
	f := newFixture(t, model, &counted{echoTool: echoTool{agent.RiskRead}})
	f.deps.Hooks = hook.New(hook.Options{
		Logger: slog.New(slog.DiscardHandler), Environ: os.Environ, Trusted: func(string) bool { return true },
		Hooks: []hoststate.Hook{
			{Name: "start", Event: "session_start", Command: "echo start >> log; echo at the start"},
			{Name: "prompt", Event: "prompt", Command: "echo prompt >> log; echo with the prompt"},
			{Name: "before", Event: "before_tool", Command: `echo before >> log; echo '{"context":"before the call"}'`},
			{Name: "after", Event: "after_tool", Command: `echo after >> log; echo '{"context":"after the call"}'`},
		},
	})
	s, w := play(t, f, api.ModeAsk)
	send(t, s, "k2", "more")
	w.wait(func() bool { return w.ended == 2 })
	if got := f.log(t); !slices.Equal(got, []string{"start", "prompt", "before", "after", "prompt"}) {
		t.Errorf("hooks ran: %v", got)
	}
	if got := hookOutcomes(w); !slices.Equal(got, []string{"session_start started"}) {
		t.Errorf("records: %v", got)
	}
	seen := func(i int) (texts []string) {
		for _, m := range model.Requests()[i].Messages {
			for _, part := range []string{"at the start", "with the prompt", "before the call", "after the call"} {
				if strings.Contains(m.Content.Plain(), part) {
					texts = append(texts, part)
				}
			}
		}
		return texts
	}
	if got := seen(0); !slices.Equal(got, []string{"at the start", "with the prompt"}) {
		t.Errorf("first, the model read %v", got)
	}
	if got := seen(1); !slices.Equal(got, []string{"at the start", "with the prompt", "before the call", "after the call"}) {
		t.Errorf("then, the model read %v", got)
	}
}

func TestAHookBlocksAPrompt(t *testing.T) {
	model := modeltest.New(modeltest.Say("never"))
	f := newFixture(t, model)
	f.deps.Hooks = hook.New(hook.Options{
		Logger: slog.New(slog.DiscardHandler), Environ: os.Environ,
		Hooks: []hoststate.Hook{{Name: "secrets", Event: "prompt", Command: `echo "it has a key" >&2; exit 2`}},
	})
	_, w := play(t, f, api.ModeAsk)
	want := "a hook blocked this prompt (secrets, from config.toml): it has a key"
	if record := lastTurn(w); record.Error != want || len(model.Requests()) != 0 {
		t.Errorf("%+v after %d model calls", record, len(model.Requests()))
	}
	if got := hookOutcomes(w); !slices.Equal(got, []string{"prompt blocked"}) {
		t.Errorf("records: %v", got)
	}
}

func lastTurn(w *watcher) (record session.TurnRecord) {
	return read(w, func() session.TurnRecord {
		for _, e := range w.entries {
			if custom, ok := e.AsCustom(); ok && custom.CustomType == session.CustomTurn {
				_ = json.Unmarshal(custom.Data, &record)
			}
		}
		return record
	})
}

// TestAHookDeniesWhatWaits: the first answer counts, also that of a hook.
func TestAHookDeniesWhatWaits(t *testing.T) {
	f, tool := hooked(t, oneCall(), agent.RiskWrite, hoststate.Hook{Name: "night", Event: "approval", Command: `echo "nobody is here" >&2; exit 2`})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	if tool.count() != 0 || resultText(w, "c1") != agent.TextFeedback+`the hook "night" denied it: nobody is here` {
		t.Errorf("%d runs; the model reads %q", tool.count(), resultText(w, "c1"))
	}
	if got := hookOutcomes(w); !slices.Equal(got, []string{"approval denied"}) {
		t.Errorf("records: %v", got)
	}
}

// TestHooksAreNotRunAgain for a call that waits when the host ends: what they said counts.
func TestHooksAreNotRunAgain(t *testing.T) {
	f, tool := hooked(t, oneCall(), agent.RiskWrite,
		hoststate.Hook{Event: "session_start", Command: "echo start >> log"},
		hoststate.Hook{Event: "prompt", Command: "echo prompt >> log"},
		hoststate.Hook{Name: "guard", Event: "before_tool", Command: `echo before >> log; echo '{"decision":"ask","reason":"look"}'`},
		hoststate.Hook{Event: "after_tool", Command: "echo after >> log"})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	id := m.List(f.project.ID)[0].ID
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	f.deps.Permissions = &allowed{rules: []string{"echo"}} // only the hook asks now
	s, w = open(t, f.manager(t), id), newWatcher()
	subscribe(t, s, w)
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	approval := read(w, func() api.Approval { return w.live.Approvals[0] })
	if approval.Reason != `the hook "guard" asks: look` {
		t.Errorf("it asks because %q", approval.Reason)
	}
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: approval.ID, Decision: api.DecisionAllow})
	w.wait(func() bool { return w.ended == 1 })
	if got := f.log(t); tool.count() != 1 || !slices.Equal(got, []string{"start", "prompt", "before", "after"}) {
		t.Errorf("%d runs, hooks %v", tool.count(), got)
	}
}

// TestHooksThatNothingWaitsFor are told of the end of a turn, and end with the session.
func TestHooksThatNothingWaitsFor(t *testing.T) {
	f, _ := hooked(t, []modeltest.Step{modeltest.Say("done")}, agent.RiskRead,
		hoststate.Hook{Event: "turn_end", Command: `cat > told; mv told end`},
		hoststate.Hook{Name: "hang", Event: "turn_end", Command: `sleep 1000`, Timeout: 600},
		hoststate.Hook{Name: "lie", Event: "turn_end", Command: `exit 2`})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	if input := f.received("end"); !strings.Contains(input, `"hook_event_name":"turn_end"`) || !strings.Contains(input, `"outcome":"stop"`) {
		t.Errorf("the hook received %s", input)
	}
	if err := m.Close(); err != nil { // ends the one that hangs
		t.Fatal(err)
	}
}

// TestHooksOfNotifications: a notification hook receives the question that waits for a person.
func TestHooksOfNotifications(t *testing.T) {
	f := asking(t)
	f.use(hoststate.Hook{Event: "notification", Command: `cat > told; mv told asked`})
	m := f.manager(t)
	asked(t, f, m)
	if input := f.received("asked"); !strings.Contains(input, `"hook_event_name":"notification"`) || !strings.Contains(input, `{\"n\":1}`) {
		t.Errorf("the hook received %s", input)
	}
}

// TestHooksOfCompactions: a compaction hook receives the reason for the compaction.
func TestHooksOfCompactions(t *testing.T) {
	k := newTalk(t, 3, modeltest.Say("on"))
	k.f.deps.Summaries.KeepTokens = 4
	k.f.use(hoststate.Hook{Event: "compaction", Command: `cat > told; mv told compacted`})
	k.restart(t)
	if _, err := k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c1"}); err != nil {
		t.Fatal(err)
	}
	if input := k.f.received("compacted"); !strings.Contains(input, `"hook_event_name":"compaction"`) || !strings.Contains(input, `"manual"`) {
		t.Errorf("the hook received %s", input)
	}
	k.w.wait(func() bool { return k.w.live.Work == nil })
}
