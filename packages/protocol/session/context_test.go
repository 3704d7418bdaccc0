package session_test

import (
	"strings"
	"testing"
)

// TestContext puts one rule beside the other: what a path of entries gives.
func TestContext(t *testing.T) {
	entry := func(id, parent, rest string) string {
		return `{"id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-02T03:04:07.000Z",` + rest + `}`
	}
	u := said("u", "null", "one")
	assistant := entry("as", "u", `"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"hi"}],"provider":"p","model":"m"}`)
	system := func(id, parent string) string {
		return entry(id, parent, `"type":"message","message":{"role":"system","content":"sys `+id+`"}`)
	}
	compaction := func(id, parent, kept, more string) string {
		return entry(id, parent, `"type":"compaction","summary":"sum `+id+`","firstKeptEntryId":"`+kept+`","tokensBefore":5`+more)
	}
	edit := func(id, parent, target, replacement string) string {
		return entry(id, parent, `"type":"context_edit","targetId":"`+target+`","replacement":`+replacement)
	}
	summary := `{"role":"compactionSummary","summary":"sum c","tokensBefore":5,"timestamp":1767323047000}`
	one := `{"role":"user","content":"one"}`
	hi := `{"role":"assistant","content":[{"type":"text","text":"hi"}],"provider":"p","model":"m"}`
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"messages":           {[]string{u, assistant}, one + "," + hi},
		"kept from":          {[]string{u, assistant, compaction("c", "as", "as", "")}, summary + "," + hi},
		"kept itself":        {[]string{u, assistant, compaction("c", "as", "c", "")}, summary},
		"kept unknown":       {[]string{u, assistant, compaction("c", "as", "nobody", ""), said("v", "c", "v")}, summary + `,{"role":"user","content":"v"}`},
		"two compactions":    {[]string{u, assistant, compaction("b", "as", "u", ""), compaction("c", "b", "as", "")}, summary + "," + hi},
		"system is dropped":  {[]string{u, system("s", "u"), compaction("c", "s", "u", `,"systemMessage":{"role":"system","content":"all"}`), system("t", "c")}, `{"role":"system","content":"all"},` + summary + "," + one + `,{"role":"system","content":"sys t"}`},
		"edit text":          {[]string{u, assistant, edit("e", "as", "u", `{"content":"new"}`), edit("f", "e", "as", `{"content":"blk"}`)}, `{"role":"user","content":"new"},{"role":"assistant","content":[{"type":"text","text":"blk"}],"provider":"p","model":"m"}`},
		"edit leaves out":    {[]string{u, assistant, edit("e", "as", "u", `null`)}, hi},
		"last edit counts":   {[]string{u, edit("e", "u", "u", `null`), edit("f", "e", "u", `{"content":[]}`)}, `{"role":"user","content":[]}`},
		"edit is cut off":    {[]string{u, assistant, edit("e", "as", "u", `null`), said("v", "e", "v"), compaction("c", "v", "v", "")}, summary + `,{"role":"user","content":"v"}`},
		"edit of a summary":  {[]string{u, compaction("c", "u", "u", ""), edit("e", "c", "c", `null`)}, one},
		"edit of a system":   {[]string{u, system("s", "u"), edit("e", "s", "s", `{"content":"x"}`)}, one + `,{"role":"system","content":"sys s"}`},
		"content is missing": {[]string{u, entry("a", "u", `"type":"message","message":{"role":"toolResult"}`), entry("b", "a", `"type":"message","message":{"role":"user","content":null,"x":1}`)}, one + `,{"role":"toolResult","content":[]},{"role":"user","content":[],"x":1}`},
		"custom message":     {[]string{entry("a", "", `"type":"custom_message","customType":"x","content":null,"display":false,"details":null`)}, `{"role":"custom","customType":"x","content":[],"display":false,"details":null,"timestamp":1767323047000}`},
		"branch summaries":   {[]string{entry("a", "", `"type":"branch_summary","fromId":"z","summary":"S"`), entry("b", "a", `"type":"branch_summary","fromId":"z","summary":""`)}, `{"role":"branchSummary","summary":"S","fromId":"z","timestamp":1767323047000}`},
		"no date":            {[]string{`{"type":"branch_summary","id":"a","timestamp":"soon","summary":"S"}`}, `{"role":"branchSummary","summary":"S","timestamp":null}`},
		"nothing of others":  {[]string{u, entry("a", "u", `"type":"usage","kind":"k"`), entry("b", "a", `"type":"from_the_future","message":{"role":"user"}`), entry("c", "b", `"type":"message"`), entry("d", "c", `"type":"message","message":null`)}, one},
	} {
		context := file(t, c.lines...).Tree.LeafContext()
		var texts []string
		for _, m := range context.Messages {
			texts = append(texts, string(m))
		}
		if got := strings.Join(texts, ","); got != c.want || len(context.Sources) != len(texts) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestContextSettings(t *testing.T) {
	model := `{"type":"model_change","id":"m","parentId":"l","provider":"p","modelId":"x"}`
	level := `{"type":"thinking_level_change","id":"l","parentId":null,"thinkingLevel":"high"}`
	tree := file(t, level, model, `{"type":"message","id":"a","parentId":"m","message":{"role":"assistant","content":[],"provider":"q","model":"y"}}`,
		`{"type":"compaction","id":"c","parentId":"a","summary":"s","firstKeptEntryId":"none"}`).Tree
	for leaf, want := range map[string]string{"l": "", "m": "p/x", "a": "q/y", "c": "q/y"} {
		context, err := tree.Context(leaf)
		got := ""
		if context.Model != nil {
			got = context.Model.Provider + "/" + context.Model.ModelID
		}
		if err != nil || got != want || context.ThinkingLevel != "high" {
			t.Errorf("at %s: %s, %s, %v", leaf, got, context.ThinkingLevel, err)
		}
	}
}
