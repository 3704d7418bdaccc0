package read

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// at returns the line of an entry; more is its other members.
func at(id, parent, more string) string {
	above := "null"
	if parent != "" {
		above = strconv.Quote(parent)
	}
	return fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`, id, above, more)
}

func treeFrom(t *testing.T, lines []string) *session.Tree {
	t.Helper()
	header := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}`
	file, err := session.ReadFile([]byte(header + "\n" + strings.Join(lines, "\n") + "\n"))
	if err != nil || len(file.Damage) > 0 {
		t.Fatal(err, file.Damage)
	}
	return file.Tree
}

func userAt(id, parent string) string {
	return at(id, parent, `"type":"message","message":{"role":"user","content":"do it"}`)
}

func answerAt(id, parent string) string {
	return at(id, parent, `"type":"message","message":{"role":"assistant","content":[],"stopReason":"stop"}`)
}

func moveTo(id, parent string) string {
	return at(id, parent, `"type":"custom","customType":"scorel.leaf","data":{}`)
}

// TestVersions checks the cases of apps/web/src/features/chat/context/versions.test.ts.
func TestVersions(t *testing.T) {
	log := []string{
		userAt("u1", ""), answerAt("a1", "u1"), at("m1", "a1", `"type":"custom","customType":"scorel.mode","data":{}`),
		userAt("u2", "m1"), answerAt("a2", "u2"), moveTo("l1", "m1"),
		userAt("u3", "l1"), answerAt("a3", "u3"), userAt("u4", "a3"), answerAt("a4", "u4"),
	}
	with := func(lines []string, more ...string) []string { return append(lines[:len(lines):len(lines)], more...) }
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"one branch":                {log[:5], "[]"},
		"moved, not yet sent again": {log[:6], "[]"},
		"two versions":              {log, "[{[{u2 a2} {u3 a4}]}]"},
		"returned to a branch": {
			with(log, moveTo("l2", "a2"), moveTo("l3", "a3"), userAt("u5", "l3")),
			"[{[{u2 a2} {u3 u5}]} {[{u4 a4} {u5 u5}]}]",
		},
		"before the first message": {with(log[:2], moveTo("l1", ""), userAt("u9", "l1")), "[{[{u1 a1} {u9 u9}]}]"},
		"a steer is no version": {
			with(log[:5], moveTo("l1", "m1"), at("u3", "l1", `"type":"message","steer":true,"message":{"role":"user","content":"hurry"}`)),
			"[]",
		},
		"after a summary of the branch": {
			with(log[:5], at("s1", "m1", `"type":"branch_summary","summary":"It was left."`), userAt("u3", "s1")),
			"[{[{u2 a2} {u3 u3}]}]",
		},
		"a session of Pi, which moves without an entry": {with(log[:5], userAt("u3", "m1")), "[{[{u2 a2} {u3 u3}]}]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Versions(treeFrom(t, c.lines))
			if fmt.Sprint(got.Places) != c.want || got.Truncated {
				t.Errorf("%v (truncated: %t), want %s", got.Places, got.Truncated, c.want)
			}
		})
	}
}

func TestVersionsAreLimited(t *testing.T) {
	lines := []string{userAt("u1", ""), answerAt("a1", "u1")}
	lines = append(lines, moveTo("l1", ""), userAt("u2", "l1"), answerAt("a2", "u2"), userAt("v0", "a2"))
	for i := 1; i < api.MaxVersions; i++ {
		lines = append(lines, userAt(fmt.Sprintf("v%d", i), "a2"))
	}
	got := Versions(treeFrom(t, lines))
	if len(got.Places) != 1 || len(got.Places[0].Versions) != api.MaxVersions || !got.Truncated {
		t.Fatalf("%d places, truncated: %t", len(got.Places), got.Truncated)
	}
	if first := (api.MessageVersion{EntryID: "v0", End: "v0"}); got.Places[0].Versions[0] != first {
		t.Errorf("the first is %v, want %v", got.Places[0].Versions[0], first)
	}
}
