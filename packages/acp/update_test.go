package acp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUpdatesDecode decodes one update of each kind and encodes it from its fields.
func TestUpdatesDecode(t *testing.T) {
	for _, data := range []string{
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":""},"messageId":"m1"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"aGk=","mimeType":"image/png"},"_meta":{"a":1}}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"Bash","kind":"execute","content":[],"rawInput":{"x":[1]},"_meta":{"n":2}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","content":[{"type":"diff","path":"/a","oldText":"","newText":""}],"locations":[{"path":"/a","line":3}]}`,
		`{"sessionUpdate":"plan","entries":[]}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d","input":{"hint":"h"}}]}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","name":"Model","type":"select","category":"model","currentValue":"a","options":[{"value":"a","name":"A"}]}]}`,
		`{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2026-11-01T00:00:00Z"}`,
		`{"sessionUpdate":"usage_update","used":5,"size":10,"cost":{"amount":0.25,"currency":"USD"}}`,
		`{"sessionUpdate":"notice","severity":"warning","title":"T","description":"D"}`,
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"text","text":"s"}]}`,
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"s"}}`,
	} {
		var u Update
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			t.Fatal(err)
		}
		if !u.Known() || u.Err != nil {
			t.Errorf("%s is not known: %v", u.Kind, u.Err)
		}
		u.Raw = nil
		encoded, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		same(t, u.Kind, encoded, []byte(data))
	}
}

// TestUnknownIsKept checks that what no one here knows survives, and does not hide the rest.
func TestUnknownIsKept(t *testing.T) {
	for _, data := range []string{
		`{"sessionUpdate":"hologram","beam":{"x":[1,2]},"_meta":{"k":"v"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"scent","of":"rain"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","new":true},"later":1}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"chart","points":[1]}],"extra":"e"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":7}}`,
	} {
		var u Update
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		if string(encoded) != data {
			t.Errorf("got  %s\nwant %s", encoded, data)
		}
	}
	for _, data := range []string{
		`{"sessionUpdate":"tool_call","title":"no id"}`, `{"sessionUpdate":"plan","entries":5}`, `{"sessionUpdate":"agent_message_chunk"}`,
	} {
		var u Update
		if err := json.Unmarshal([]byte(data), &u); err != nil || u.Err == nil || u.Known() || u.Tool != nil {
			t.Errorf("%s: %v, %+v", data, err, u)
		}
	}
	var u Update
	if err := json.Unmarshal([]byte(`{"content":1}`), &u); err == nil {
		t.Error("an update without a kind was decoded")
	}
}

// TestKeysAreExact checks that a key in another case is not the field.
func TestKeysAreExact(t *testing.T) {
	var u Update
	if err := json.Unmarshal([]byte(`{"sessionUpdate":"usage_update","Used":5,"size":1}`), &u); err != nil || u.Usage.Used != 0 || u.Usage.Size != 1 {
		t.Errorf("%v %+v", err, u.Usage)
	}
}

func TestToolCallApply(t *testing.T) {
	call := ToolCall{ID: "c", Title: "t", Kind: ToolEdit, Content: []ToolContent{Shown(Text("a"))}, Locations: []Location{{Path: "/a"}}}
	call.Apply(ToolCall{ID: "c", Status: ToolCompleted, Content: []ToolContent{}, RawOutput: json.RawMessage(`1`)})
	if call.Title != "t" || !call.Ended() || len(call.Content) != 0 || len(call.Locations) != 1 || string(call.RawOutput) != "1" {
		t.Errorf("%+v", call)
	}
}

func TestOptionChoices(t *testing.T) {
	var o ConfigOption
	data := `{"id":"m","name":"M","type":"select","currentValue":"b","options":[{"group":"g","name":"Group","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]}`
	if err := json.Unmarshal([]byte(data), &o); err != nil {
		t.Fatal(err)
	}
	if got := o.Choices(); len(got) != 2 || got[1].Value != "b" || got[1].Name != "B" || got[1].Group != "Group" {
		t.Errorf("%+v", got)
	}
	if o.Current() != "b" {
		t.Errorf("current %q", o.Current())
	}
	if got := Select("m", "M", CategoryMode, "x", ConfigChoice{Value: "x", Name: "X"}); got.Current() != "x" || len(got.Choices()) != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte(`{"sessionUpdate":"plan","entries":[{}]}`))
	f.Add([]byte(`{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"content","content":{"type":"text"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var u Update
		if json.Unmarshal(data, &u) != nil {
			return
		}
		encoded, err := json.Marshal(u)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if strings.ContainsRune(string(encoded), '\n') {
			t.Fatalf("a line break in %q", encoded)
		}
	})
}
