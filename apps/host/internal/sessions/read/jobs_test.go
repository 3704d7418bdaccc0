package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

func TestLostJobs(t *testing.T) {
	result := func(tool, details string) string {
		return fmt.Sprintf(`{"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":%q,"content":[{"type":"text","text":"x"}],"details":%s,"isError":false}`, tool, details)
	}
	note := func(text, details string) string {
		return fmt.Sprintf(`{"type":"custom_message","customType":"scorel.note","content":%q,"display":true,"details":%s`, text, details)
	}
	began := result("bash", `{"exitCode":0,"job":"job1"}`)
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"none":              {[]string{result("bash", `{"exitCode":0}`)}, nil},
		"it runs":           {[]string{began}, []string{"job1"}},
		"a script":          {[]string{result("execute_skill", `{"job":"job3"}`)}, []string{"job3"}},
		"looked at":         {[]string{began, result("bash_job", `{"job":"job1","running":true,"exitCode":-1}`)}, []string{"job1"}},
		"its end was seen":  {[]string{began, result("bash_job", `{"job":"job1","running":false,"exitCode":0}`)}, nil},
		"its end was told":  {[]string{began, note("Background job job1 ended", `{"kind":"jobs","jobs":["job1"]}`)}, nil},
		"by an old host":    {[]string{began, note("Background job job1 ended with exit code 0 after 2 s: make\nLook", `{"kind":"jobs"}`)}, nil},
		"another was told":  {[]string{began, note("Background job job2 ended", `{"kind":"jobs","jobs":["job2"]}`)}, []string{"job1"}},
		"its name again":    {[]string{began, note("gone", `{"kind":"jobs","jobs":["job1"]}`), began}, []string{"job1"}},
		"another note":      {[]string{began, note("jobs", `{"kind":"todos"}`)}, []string{"job1"}},
		"of another tool":   {[]string{result("mcp__x__start", `{"job":"job9"}`)}, nil},
		"details of no use": {[]string{result("bash", `{"job":7}`), result("bash", `"job"`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := LostJobs(treeOf(t, c.lines)); !slices.Equal(got, c.want) {
				t.Errorf("lost are %q, want %q", got, c.want)
			}
		})
	}
}

// treeOf returns the tree of entries one after the other, each without its end, id and parent.
func treeOf(t *testing.T, lines []string) *session.Tree {
	t.Helper()
	text, parent := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}`, "null"
	for i, line := range lines {
		text += fmt.Sprintf("\n%s,\"id\":\"e%d\",\"parentId\":%s,\"timestamp\":\"2026-01-01T00:00:00.000Z\"}", line, i, parent)
		parent = fmt.Sprintf("%q", fmt.Sprint("e", i))
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("no JSON: %s", line)
		}
	}
	file, err := session.ReadFile([]byte(text + "\n"))
	if err != nil || len(file.Damage) > 0 {
		t.Fatal(err, file.Damage)
	}
	return file.Tree
}
