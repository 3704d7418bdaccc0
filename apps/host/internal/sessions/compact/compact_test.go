package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/packages/protocol/session"
)

// log writes a session; each message is "role:characters", a call is "call:characters".
func log(t *testing.T, messages ...string) *session.Writer {
	t.Helper()
	w := session.NewWriter(session.NewTree(nil))
	for _, m := range messages {
		add(t, w, m)
	}
	return w
}

func add(t *testing.T, w *session.Writer, message string) {
	t.Helper()
	n := len(w.Tree().Entries())
	stamp := session.Stamp{ID: fmt.Sprintf("e%d", n), Timestamp: "2026-01-02T03:04:05.678Z"}
	kind, size, _ := strings.Cut(message, ":")
	var count int
	if _, err := fmt.Sscan(size, &count); err != nil {
		t.Fatal(err)
	}
	m := session.Message{Timestamp: 1, Content: session.Content{session.Text(kind + strings.Repeat("x", max(count-len(kind), 0)))}}
	switch kind {
	case "user":
		m.Role = session.RoleUser
	case "agent":
		m.Role, m.StopReason = session.RoleAssistant, session.StopEnd
	case "call":
		m.Role, m.StopReason = session.RoleAssistant, session.StopToolUse
		m.Content = session.Content{{Type: session.BlockToolCall, ID: "c", Name: "read", Arguments: fmt.Appendf(nil, `{"path":"f%d"}`, n)}}
	case "result":
		m.Role, m.ToolCallID, m.ToolName = session.RoleToolResult, "c", "read"
	case "steer": // to the running turn
		m.Role, stamp.Extra = session.RoleUser, []byte(`{"steer":true}`)
	case "note": // of the host
		if _, err := w.CustomMessage(stamp, session.CustomNote, fmt.Appendf(nil, "%q", m.Content.Plain()), true, nil); err != nil {
			t.Fatal(err)
		}
		return
	case "name":
		if _, err := w.SessionInfo(stamp, "x"); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := session.Encode(m)
	if err == nil {
		_, err = w.Message(stamp, raw)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		log     []string
		keep    int
		kept    string // "" where nothing is left out
		history int
		prefix  int
	}{
		"empty":              {nil, 10, "", 0, 0},
		"short":              {[]string{"user:40", "agent:40"}, 100, "", 0, 0},
		"between turns":      {[]string{"user:400", "agent:400", "user:40", "agent:400"}, 110, "e2", 2, 0},
		"exactly":            {[]string{"user:400", "agent:400", "user:40", "agent:400"}, 100, "e3", 2, 1},
		"inside a turn":      {[]string{"user:400", "agent:400", "user:40", "call:0", "result:4000", "agent:400"}, 110, "e5", 2, 3},
		"one turn alone":     {[]string{"user:40", "call:0", "result:4000", "agent:400"}, 50, "e3", 0, 3},
		"results at the end": {[]string{"user:40", "call:0", "result:4000"}, 50, "e1", 0, 1},
		"a result begins no turn": {[]string{"user:40", "call:0", "result:400", "call:0", "result:4000"}, 1050,
			"e3", 0, 3},
		"a note begins no turn":  {[]string{"user:400", "agent:400", "user:40", "call:0", "result:400", "note:400", "agent:400"}, 90, "e6", 2, 4},
		"a steer begins no turn": {[]string{"user:400", "agent:400", "user:40", "call:0", "result:400", "steer:400", "agent:400"}, 90, "e6", 2, 4},
		"a name between":         {[]string{"user:400", "agent:400", "name:0", "user:40", "agent:400"}, 110, "e3", 2, 0},
		"the first alone":        {[]string{"user:4000"}, 10, "", 0, 0},
		"all is over the mark":   {[]string{"user:4000", "agent:40"}, 1000, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan, ok := compact.Prepare(log(t, c.log...).Tree(), c.keep)
			if ok != (c.kept != "") || plan.FirstKept != c.kept || len(plan.History) != c.history || len(plan.Prefix) != c.prefix {
				t.Errorf("kept from %q, %d to summarize, %d of a turn; want %q, %d, %d",
					plan.FirstKept, len(plan.History), len(plan.Prefix), c.kept, c.history, c.prefix)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	w := log(t, "user:40", "agent:41")
	if got := compact.Tokens(w.Tree()); got != 10+11 {
		t.Errorf("an estimate of %d", got)
	}
	counted := `{"role":"assistant","content":[],"usage":{"input":900,"output":50,"cacheRead":50,"cacheWrite":0,"totalTokens":0},"stopReason":"stop","timestamp":1}`
	if _, err := w.Message(session.Stamp{ID: "u", Timestamp: "2026-01-02T03:04:05.678Z"}, []byte(counted)); err != nil {
		t.Fatal(err)
	}
	add(t, w, "user:40")
	if got := compact.Tokens(w.Tree()); got != 1000+10 {
		t.Errorf("what the provider counted and what came after are %d", got)
	}
	if !compact.Due(w.Tree(), 1000) || compact.Due(w.Tree(), 1010) || compact.Due(w.Tree(), 0) {
		t.Error("it is due over the limit and not else")
	}
	compaction := session.Compaction{Summary: "s", FirstKeptEntryID: "u"}
	if _, err := w.Compaction(session.Stamp{ID: "c", Timestamp: "2026-01-02T03:04:05.678Z"}, compaction); err != nil {
		t.Fatal(err)
	}
	if got := compact.Tokens(w.Tree()); got != 1+10 {
		t.Errorf("after a compaction there are %d: an old count says nothing", got)
	}
	if compact.Due(w.Tree(), 5) {
		t.Error("it is due again before the model has answered")
	}
}

func TestRequestAndExtract(t *testing.T) {
	w := log(t, "user:400", "call:0", "result:4000", "agent:400")
	if _, err := w.Compaction(session.Stamp{ID: "c", Timestamp: "2026-01-02T03:04:05.678Z"},
		session.Compaction{Summary: "what was before", FirstKeptEntryID: "e3"}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"user:800", "agent:800", "user:400", "call:0", "result:9000", "agent:40"} {
		add(t, w, m)
	}
	plan, ok := compact.Prepare(w.Tree(), 5)
	if !ok || plan.Previous != "what was before" {
		t.Fatalf("%+v, %v", plan, ok)
	}
	request := plan.Request("the tests", 100_000)
	for _, want := range []string{"<previous-summary>\nwhat was before\n", "<beginning-of-the-current-task>\n[User] user", "[Agent] agent",
		"focus on this: the tests", "[7000 more characters]"} {
		if !strings.Contains(request, want) {
			t.Errorf("the request lacks %q:\n%s", want, request)
		}
	}
	text := plan.Extract()
	for _, want := range []string{"what was before", "The current task", "<read-files>\nf8\n</read-files>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the extract lacks %q:\n%s", want, text)
		}
	}
	if again := plan.Extract(); again != text || compact.TextTokens(len(text)) > plan.TokensCut/2+1 {
		t.Errorf("%d characters stand for %d tokens", len(text), plan.TokensCut)
	}
	short := plan.Request("", 500)
	if len(short) > 4000 || !strings.Contains(short, "left out") {
		t.Errorf("a request with a limit has %d bytes", len(short))
	}
}

// call adds calls of tools to a log, each with its result.
func call(t *testing.T, w *session.Writer, failed bool, name, arguments string) {
	t.Helper()
	id := fmt.Sprintf("c%d", len(w.Tree().Entries()))
	for _, m := range []session.Message{
		{Role: session.RoleAssistant, StopReason: session.StopToolUse, Timestamp: 1,
			Content: session.Content{{Type: session.BlockToolCall, ID: id, Name: name, Arguments: []byte(arguments)}}},
		{Role: session.RoleToolResult, ToolCallID: id, ToolName: name, IsError: &failed, Timestamp: 1, Content: session.Content{session.Text("done")}},
	} {
		raw, err := session.Encode(m)
		if err == nil {
			_, err = w.Message(session.Stamp{ID: fmt.Sprintf("e%d", len(w.Tree().Entries())), Timestamp: "2026-01-02T03:04:05.678Z"}, raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keep adds the compaction that a plan makes.
func keep(t *testing.T, w *session.Writer, plan compact.Plan, summary string) {
	t.Helper()
	stamp := session.Stamp{ID: fmt.Sprintf("e%d", len(w.Tree().Entries())), Timestamp: "2026-01-02T03:04:05.678Z"}
	if _, err := w.Compaction(stamp, session.Compaction{Summary: summary, FirstKeptEntryID: plan.FirstKept, Details: plan.Details()}); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfACompaction(t *testing.T) {
	w := log(t, "user:40")
	call(t, w, false, "read_file", `{"path":"./both.go"}`)
	call(t, w, false, "read_file", `{"path":"read.go"}`)
	call(t, w, false, "patch", `{"path":"both.go","old_string":"a","new_string":"b"}`)
	call(t, w, false, "write_file", `{"path":"written.go","content":""}`)
	call(t, w, true, "patch", `{"path":"failed.go","old_string":"a","new_string":"b"}`)
	call(t, w, false, "patch", `{"patch":"*** Begin Patch\n*** Update File: up.go\n@@\n-a\n+b\n*** Add File: added.go\n+x\n`+
		`*** Delete File: gone.go\n*** Move File: from.go -> to.go\n*** End Patch"}`)
	add(t, w, "user:400")
	add(t, w, "agent:400")
	plan, ok := compact.Prepare(w.Tree(), 20)
	if !ok {
		t.Fatal("there is nothing to compact")
	}
	const want = `{"readFiles":["read.go"],"modifiedFiles":["added.go","both.go","from.go","gone.go","to.go","up.go","written.go"]}`
	if got := string(plan.Details()); got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	keep(t, w, plan, plan.Finish("what was"))
	call(t, w, false, "patch", `{"path":"read.go","old_string":"a","new_string":"b"}`)
	call(t, w, false, "read_file", `{"path":"to.go"}`)
	call(t, w, false, "read_file", `{"path":"later.go"}`)
	add(t, w, "user:400")
	add(t, w, "agent:400")
	second, ok := compact.Prepare(w.Tree(), 20)
	const merged = `{"readFiles":["later.go"],"modifiedFiles":["added.go","both.go","from.go","gone.go","read.go","to.go","up.go","written.go"]}`
	if got := string(second.Details()); !ok || got != merged {
		t.Errorf("the second details are %s, want %s", got, merged)
	}
	text := second.Finish("what was\n\n<read-files>\nread.go\n</read-files>") // as a model may repeat it
	if strings.Count(text, "<read-files>") != 1 || second.Previous != "what was" {
		t.Errorf("the lists are in the summary more than once: %s; before it %q", text, second.Previous)
	}
}

// A compaction of an older version lists the files in its text alone, one of a hook
// lists what only the hook knows.
func TestFilesOfOlderCompactions(t *testing.T) {
	hook := true
	for name, c := range map[string]struct {
		compaction session.Compaction
		want       string
	}{
		"in the text": {session.Compaction{Summary: "s\n\n<read-files>\na\nb\n(3 more)\n</read-files>\n\n<modified-files>\nc\n</modified-files>"},
			`{"readFiles":["a","b"],"modifiedFiles":["c"]}`},
		"of a hook":       {session.Compaction{Summary: "s", FromHook: &hook, Details: []byte(`{"readFiles":["a"],"modifiedFiles":[]}`)}, ""},
		"of another form": {session.Compaction{Summary: "s", Details: []byte(`["a"]`)}, ""},
		"of Pi":           {session.Compaction{Summary: "s", Details: []byte(`{"readFiles":["a"],"modifiedFiles":["b"]}`)}, `{"readFiles":["a"],"modifiedFiles":["b"]}`},
	} {
		w := log(t, "user:40", "agent:40")
		c.compaction.FirstKeptEntryID = "e1"
		if _, err := w.Compaction(session.Stamp{ID: "c", Timestamp: "2026-01-02T03:04:05.678Z"}, c.compaction); err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"user:400", "agent:400", "user:400", "agent:400"} {
			add(t, w, m)
		}
		plan, ok := compact.Prepare(w.Tree(), 20)
		if got := string(plan.Details()); !ok || got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An extract that follows another one takes its requests over: the task that was
// current then is not any more, and what is left of it is no empty item.
func TestExtractsDoNotNest(t *testing.T) {
	w := log(t, "user:4000", "agent:4000", "user:20000", "call:0", "result:40000", "agent:1200", "call:0", "result:4000", "agent:1300")
	var plans []compact.Plan
	step := func(tokens int) string {
		plan, ok := compact.Prepare(w.Tree(), tokens)
		if !ok {
			t.Fatal("there is nothing to compact")
		}
		plans = append(plans, plan)
		text := plan.Extract()
		keep(t, w, plan, text)
		return text
	}
	first := step(1400)
	if strings.Count(first, "The current task") != 1 || strings.Count(first, "\n- user") != 2 || len(plans[0].Prefix) == 0 {
		t.Fatalf("the first extract is\n%s", first)
	}
	for _, m := range []string{"call:0", "result:4000", "agent:1500"} {
		add(t, w, m)
	}
	within := step(200) // still in the same turn
	if strings.Count(within, "The current task") != 1 || strings.Count(within, "\n- user") != 2 || strings.Contains(within, "- \n") {
		t.Errorf("in the same turn the extract is\n%s", within)
	}
	for _, m := range []string{"user:16000", "agent:16000", "user:400", "agent:400"} {
		add(t, w, m)
	}
	later := step(150)
	if strings.Contains(later, "The current task") || strings.Count(later, "\n- user") != 3 || strings.Count(later, "→ agent") != 3 || strings.Contains(later, "- \n") {
		t.Errorf("the third extract is\n%s", later)
	}
}

func TestLeft(t *testing.T) {
	w := log(t, "user:40", "agent:40", "user:41", "agent:41")
	if err := w.Tree().Branch("e1"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"user:42", "call:0", "result:42", "agent:42"} {
		add(t, w, m)
	}
	branch, err := compact.Left(w.Tree(), "e7", "e3")
	if err != nil || len(branch.Messages) != 4 {
		t.Fatalf("%d messages are left, %v", len(branch.Messages), err)
	}
	if text := branch.Extract(); strings.Count(text, "user") != 1 || !strings.Contains(text, "f5") {
		t.Errorf("the extract is %s", text)
	}
	if got := string(branch.Details()); got != `{"readFiles":["f5"],"modifiedFiles":[]}` {
		t.Errorf("details %s", got)
	}
	if whole, err := compact.Left(w.Tree(), "e7", ""); err != nil || len(whole.Messages) != 6 {
		t.Errorf("%d messages are left for the beginning, %v", len(whole.Messages), err)
	}
	if none, err := compact.Left(w.Tree(), "e1", "e3"); err != nil || len(none.Messages) != 0 {
		t.Errorf("%d messages are left when going on, %v", len(none.Messages), err)
	}
	if _, err := compact.Left(w.Tree(), "e1", "nobody"); err == nil {
		t.Error("a place that is not there was taken")
	}
	if !strings.HasPrefix(branch.Request(10_000), "<conversation>\n[User] user") {
		t.Error("the request has no conversation")
	}
}
