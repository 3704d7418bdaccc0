package index

import (
	"fmt"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// TestJobsOfADigest: which background jobs are to begin a turn, and which turn is owed.
func TestJobsOfADigest(t *testing.T) {
	result := func(tool, details string) string {
		return fmt.Sprintf(`{"type":"message","turnId":"t1","message":{"role":"toolResult","toolCallId":"c","toolName":%q,"content":[],"details":%s,"isError":false}`, tool, details)
	}
	note := func(details string) string {
		return fmt.Sprintf(`{"type":"custom_message","turnId":"t2","customType":"scorel.note","content":"x","display":true,"details":%s`, details)
	}
	end := func(reason string) string {
		return fmt.Sprintf(`{"type":"custom","customType":"scorel.turn","data":{"turnId":"t1","stopReason":%q}`, reason)
	}
	const answer = `{"type":"message","turnId":"t1","message":{"role":"assistant","content":[],"stopReason":"stop"}`
	const prompt = `{"type":"message","turnId":"t2","message":{"role":"user","content":"x"}`
	began, wakes := result("bash", `{"job":"job1","notify":true}`), note(`{"kind":"jobs","jobs":["job1"],"wakes":true}`)
	for name, c := range map[string]struct {
		lines []string
		jobs  int
		owed  string
	}{
		"a job":                           {[]string{began, answer}, 1, ""},
		"without notice":                  {[]string{result("bash", `{"job":"job1"}`), answer}, 0, ""},
		"looked at":                       {[]string{began, result("bash_job", `{"job":"job1","running":true}`), answer}, 1, ""},
		"its end was seen":                {[]string{began, result("bash_job", `{"job":"job1","running":false}`), answer}, 0, ""},
		"its name again":                  {[]string{began, result("bash", `{"job":"job1"}`), answer}, 0, ""},
		"another ended":                   {[]string{began, note(`{"kind":"jobs","jobs":["job2"]}`), answer}, 1, ""},
		"cancelled":                       {[]string{began, end("aborted")}, 0, ""},
		"the host ended":                  {[]string{began, `{"type":"custom","customType":"scorel.turn","data":{"turnId":"t1","stopReason":"aborted","hostEnded":true}`}, 1, ""},
		"its turn failed":                 {[]string{began, end("error")}, 1, ""},
		"told, and nothing more":          {[]string{began, answer, wakes}, 0, "t2"},
		"told, and another note":          {[]string{began, answer, wakes, note(`{"kind":"todos"}`)}, 0, "t2"},
		"told, and answered":              {[]string{began, answer, wakes, answer}, 0, ""},
		"told with the next prompt":       {[]string{began, answer, wakes, prompt, answer}, 0, ""},
		"told, and the turn ended":        {[]string{began, answer, wakes, end("error")}, 0, ""},
		"told while a turn ran":           {[]string{began, wakes}, 0, ""},
		"told, where no session is woken": {[]string{began, answer, note(`{"kind":"jobs","jobs":["job1"]}`)}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, parent := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}`+"\n", "null"
			for i, line := range c.lines {
				text += fmt.Sprintf("%s,\"id\":\"e%d\",\"parentId\":%s,\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n", line, i, parent)
				parent = fmt.Sprintf(`"e%d"`, i)
			}
			file, err := session.ReadFile([]byte(text))
			if err != nil || len(file.Damage) > 0 {
				t.Fatal(err, file.Damage)
			}
			row := Session{Header: file.Header, Digest: DigestOf(file.Header, file.Tree.Entries())}
			if len(row.Jobs) != c.jobs || row.Owed != c.owed || row.Waits() != (c.jobs > 0 || c.owed != "" || row.Cut) {
				t.Errorf("%+v, want %d jobs and the turn %q", row.Digest, c.jobs, c.owed)
			}
		})
	}
}
