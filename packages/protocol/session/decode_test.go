package session

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// decodeSeeds are messages as they are written, and what is near to them.
func decodeSeeds() []string {
	const usage = `"usage":{"input":1,"output":-0,"cacheRead":3,"cacheWrite":4,"totalTokens":5,"cost":{"input":0.1,"output":2e-3,"cacheRead":0,"cacheWrite":-1.5,"total":1E2}}`
	whole := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm\n","thinkingSignature":"s","redacted":true},{"type":"text","text":"a \"b\" é \u00e9","textSignature":"t"},` +
		`{"type":"toolCall","id":"c","name":"n","arguments":{"a": [1, {}]},"thoughtSignature":"x"},{"type":"image","data":"QQ==","mimeType":"image/png","redacted":false}],` +
		`"api":"a","provider":"p","model":"m","responseId":"r",` + usage + `,"stopReason":"stop","errorMessage":"e","timestamp":1767323046000}`
	result := `{"role":"toolResult","toolCallId":"c","toolName":"n","content":[{"type":"text","text":""}],"details":{"x":null},"isError":false,"timestamp":7}`
	seeds := []string{whole, result, `{"role":"user","content":"plain","timestamp":1}`, ` { "role" : "user" , "content" : [ ] } `, `{}`, `{"content":[{}]}`}
	for _, change := range [][2]string{
		{`"role"`, `"Role"`}, {`"assistant"`, `null`}, {`"p"`, `"\ud83d\ude00"`}, {`"p"`, `"\ud83d"`}, {`"p"`, `"\uD83D x"`}, {`"m"`, "\"\xff\""},
		{`1767323046000`, `1.0`}, {`1767323046000`, `"1"`}, {`1767323046000`, `99999999999999999999`}, {`"input":1,`, `"input":1,"Input":2,`}, {`0.1`, `1e999`}, {`0.1`, `"0.1"`},
		{`"stop",`, `"stop","usage":{"input":9},`}, {`"stop",`, `"stop","content":[{"type":"text"}],`}, {`"stop",`, `"stop","usage":null,`}, {`"stop",`, `"stop","other":1,`},
		{`"stop",`, `"stop","api":"again",`}, {`true`, `null`}, {`{"a": [1, {}]}`, `null`}, {`{"a": [1, {}]}`, ``}, {`"n"`, `"\u006e"`}, {`"text":`, `"\u0074ext":`}, {`],`, `,],`}, {`],`, `]],`},
		{`"cost":{`, `"cost":{"input":3,"more":1,`}, {`"output":-0`, `"output":null`}, {`[{"type"`, `[null,{"type"`}, {`}`, `} `}, {`:`, " :\t"}, {`{"a": [1, {}]}`, strings.Repeat("[", 10001) + strings.Repeat("]", 10001)},
	} {
		seeds = append(seeds, strings.Replace(whole, change[0], change[1], 1))
	}
	for _, change := range [][2]string{{`false`, `null`}, {`false`, `0`}, {`{"x":null}`, `null`}, {`{"x":null}`, ` [1 , 2] `}, {`7}`, `7} x`}, {`7}`, `7`}, {`"content":`, `"content":null,"x":`}, {`"toolResult"`, `"toolResult","isError":true`}} {
		seeds = append(seeds, strings.Replace(result, change[0], change[1], 1))
	}
	return seeds
}

// Whatever a message is, it decodes as exactjson.Unmarshal decodes it.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range decodeSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want Message
		wantErr := exactjson.Unmarshal([]byte(raw), &want)
		got, err := DecodeMessage([]byte(raw))
		if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%q decodes to\n%#v %v, want\n%#v %v", raw, got, err, want, wantErr)
		}
		checkAsMessage(t, `{"type":"message","id":"a","parentId":"b","message":`+raw+`,"seq":3,"turnId":"t"}`)
	})
}

// checkAsMessage compares AsMessage with a plain decoding of the line.
func checkAsMessage(t *testing.T, line string) {
	t.Helper()
	entry, err := ParseEntry([]byte(line))
	if err != nil || entry.Type != TypeMessage {
		return
	}
	var want MessageEntry
	wantOK := exactjson.Unmarshal([]byte(line), &want) == nil
	if got, ok := entry.AsMessage(); ok != wantOK || ok && !reflect.DeepEqual(got, want) {
		t.Errorf("%s decodes to\n%#v %v, want\n%#v %v", line, got, ok, want, wantOK)
	}
}

// What we write is read the quick way.
func TestQuickMessage(t *testing.T) {
	quick := 0
	for _, seed := range decodeSeeds() {
		if _, ok := quickMessage([]byte(seed)); ok {
			quick++
		}
	}
	yes := true
	for _, m := range []Message{
		{Role: RoleUser, Content: Content{Text("x")}, Timestamp: 1},
		{Role: RoleAssistant, Content: Content{Text("\t<é>\u2028"), {Type: BlockToolCall, ID: "c", Name: "n", Arguments: []byte(`{"a":"b"}`)}}, Usage: &Usage{Input: 1, Cost: Cost{Total: 1e-9}}, StopReason: StopToolUse},
		{Role: RoleToolResult, ToolCallID: "c", Content: Content{}, IsError: &yes, Details: []byte(`{"x":[]}`)},
	} {
		raw, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := quickMessage(raw); !ok || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %v %+v", raw, ok, got)
		}
	}
	if quick < 6 || quick == len(decodeSeeds()) {
		t.Errorf("%d of %d seeds are read the quick way", quick, len(decodeSeeds()))
	}
}

func BenchmarkDecodeMessage(b *testing.B) {
	raw := []byte(decodeSeeds()[0])
	b.Run("quick", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeMessage(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m Message
			if err := exactjson.Unmarshal(raw, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}
