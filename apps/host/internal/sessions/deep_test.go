package sessions_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

func nested(levels int) string {
	return `{"path":` + strings.Repeat(`{"a":[`, levels/2) + strings.Repeat("]}", levels/2) + "}"
}

// TestAModelCannotMakeASessionUnopenable: arguments that nest deeper than decoders go are
// never stored as they are. The model is notified, the session continues, and it opens again.
func TestAModelCannotMakeASessionUnopenable(t *testing.T) {
	for _, levels := range []int{100, 9990, 9996, 20000} {
		f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c", "read", nested(levels))), modeltest.Say("I see.")))
		m := f.manager(t)
		s, w := f.create(t, m), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k1", "hi")
		w.wait(func() bool { return w.ended == 1 })
		check(t, m.Close())
		data, err := os.ReadFile(f.file(t))
		check(t, err)
		if !strings.Contains(string(data), "_invalid_arguments") || !strings.Contains(string(data), "I see.") {
			t.Errorf("%d levels: the turn did not continue", levels)
		}
		for line := range strings.Lines(string(data)) {
			if exactjson.DeeperThan([]byte(line), exactjson.MaxDepth+16) || !json.Valid([]byte(line)) {
				t.Fatalf("%d levels: a line nests too deep", levels)
			}
		}
		m = f.manager(t)
		if damaged := m.List("")[0].Damaged; damaged != "" {
			t.Errorf("%d levels: %s", levels, damaged)
		}
		subscribe(t, open(t, m, m.List("")[0].ID), newWatcher())
	}
}

// TestALineThatNestsTooDeepIsDamage: a file that holds such a line opens with the rest of
// it. What can be read is, the line is named, nothing is written, and it can be forked.
func TestALineThatNestsTooDeepIsDamage(t *testing.T) {
	for _, levels := range []int{1000, 9996, 1000000} {
		f := finished(t)
		path := f.file(t)
		whole, err := os.ReadFile(path)
		check(t, err)
		lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
		last, err := session.ParseEntry([]byte(lines[len(lines)-1]))
		check(t, err)
		deep := `{"type":"message","id":"deep0001","parentId":"` + last.ID + `","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"before"},` +
			`{"type":"toolCall","id":"c","name":"read","arguments":` + nested(levels) + `}],"stopReason":"toolUse","timestamp":1}}` + "\n"
		check(t, os.WriteFile(path, append(whole, deep...), 0o600))
		m := f.manager(t)
		summary := m.List("")[0]
		if !strings.Contains(summary.Damaged, "nests too deep") {
			t.Fatalf("%d levels: damaged is %q", levels, summary.Damaged)
		}
		s, w := open(t, m, summary.ID), newWatcher()
		subscribe(t, s, w)
		seen, err := json.Marshal(w.entries)
		check(t, err)
		if !strings.Contains(string(seen), "deep0001") || !strings.Contains(string(seen), "nested too deeply to be read") || exactjson.DeeperThan(seen, session.MaxLineDepth+8) {
			t.Errorf("%d levels: sent %.300s", levels, seen)
		}
		_, err = s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k9", Text: "go on"})
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Kind != api.KindDamaged || !strings.Contains(refused.Message, "fork") {
			t.Errorf("%d levels: %v", levels, err)
		}
		check(t, m.Close())
		after, err := os.ReadFile(path)
		check(t, err)
		if string(after) != string(whole)+deep {
			t.Errorf("%d levels: a damaged file was changed", levels)
		}
	}
}
