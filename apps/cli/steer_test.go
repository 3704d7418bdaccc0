package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// evil is text that a model, a tool, a server or a file may contain: it clears the screen,
// sets the title, returns to the start of the line and reverses its direction.
const evil = "a\x1b]0;title\x07\x1b[2J\u009b2Jb\u202Ec\u2066d\re\u200f \b\x7f"

// evilEntries is a log in which every text is evil.
func evilEntries(t *testing.T) []session.Entry {
	t.Helper()
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := session.ReadFile([]byte(strings.ReplaceAll(strings.Join([]string{
		`{"type":"session","version":3,"id":"s","timestamp":"t","cwd":EVIL}`,
		`{"type":"message","id":EVIL,"parentId":null,"timestamp":"t","message":{"role":"user","content":EVIL}}`,
		`{"type":"message","id":"b","parentId":EVIL,"timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":EVIL},{"type":"image","mimeType":EVIL,"sha256":EVIL},{"type":"toolCall","id":"c","name":EVIL,"arguments":{"x":EVIL}}],"errorMessage":EVIL}}`,
		`{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","toolName":EVIL,"content":[{"type":"text","text":EVIL}],"isError":true}}`,
		`{"type":"custom","id":"d","parentId":"c","timestamp":"t","customType":"scorel.process","data":{"operationId":"op_1","source":EVIL,"lines":[{"source":EVIL,"stage":EVIL,"message":EVIL,"level":"error","status":EVIL}]}}`,
		`{"type":"custom_message","id":"e","parentId":"d","timestamp":"t","customType":"scorel.note","content":EVIL,"display":true,"details":{"kind":EVIL}}`,
		`{"type":EVIL,"id":"f","parentId":"e","timestamp":"t"}`,
	}, "\n")+"\n", "EVIL", string(quoted))))
	if err != nil {
		t.Fatal(err)
	}
	return file.Tree.Entries()
}

// TestNothingSteersTheTerminal prints texts from elsewhere through every function that
// prints.
func TestNothingSteersTheTerminal(t *testing.T) {
	entries := evilEntries(t)
	isError := true
	line := session.ProcessLine{ProcessEvent: session.ProcessEvent{OperationID: evil, Source: evil, Stage: evil, Message: evil, Status: session.ProcessStatus(evil)}}
	approval := api.Approval{
		ID: "x", ToolName: evil, Title: evil, Detail: evil + "\n" + evil, Cwd: evil, Reason: evil, ProposedRules: []string{evil},
		Risk: &api.Risk{Level: evil, Reasons: []string{evil}},
	}
	summary := api.SessionSummary{ID: "s", Name: evil, Damaged: evil}
	view := func(w io.Writer) *textView {
		return &textView{notices: notices{w, nil}, stdout: w, steered: true, steps: newProgress(w, false)}
	}
	for name, write := range map[string]func(io.Writer) error{
		"transcript": func(w io.Writer) error {
			return printTranscript(w, api.ResyncEventsResponse{Session: summary, Entries: entries, Live: api.Live{Processes: []api.Process{{Last: line}}}})
		},
		"around": func(w io.Writer) error { return printAround(w, api.GetEntriesResponse{Entries: entries}, evil) },
		"around, of no type": func(w io.Writer) error {
			return printAround(w, api.GetEntriesResponse{Entries: entries}, "f")
		},
		"tree": func(w io.Writer) error {
			return printTree(w, api.GetTreeResponse{Nodes: []api.TreeNode{{ID: evil, Type: evil, Role: evil, Text: evil, Label: evil}}})
		},
		"hits": func(w io.Writer) error {
			return printHits(w, []placedHit{{place{Machine: evil}, api.SearchHit{SessionID: evil, Name: evil, EntryID: evil, Role: evil, Snippet: []api.SnippetPart{{Text: evil}}}}})
		},
		"table": func(w io.Writer) error { return printTable(w, []string{"A"}, [][]string{{evil}}) },
		"error": func(w io.Writer) error {
			_, err := fmt.Fprintln(w, sentence(api.Errorf(api.KindInternal, "%s", evil)))
			return err
		},
		"error of a file": func(w io.Writer) error {
			_, err := fmt.Fprintln(w, sentence(&fs.PathError{Op: "open", Path: "a\x9b2Jb", Err: fs.ErrNotExist}))
			return err
		},
		"server": func(w io.Writer) error {
			return printServer(w, false, "changed", api.MCPServer{Name: evil, Source: evil, Shown: evil})
		},
		"diffs": func(w io.Writer) error {
			return writeDiffs(w, []api.FileChange{{Path: evil, Status: evil}, {Path: evil, Diff: evil}})
		},
		"damage": func(w io.Writer) error {
			noteDamage(w, &session.File{Damage: []session.Damage{{Line: 1, What: evil}}})
			return nil
		},
		"send": func(w io.Writer) error {
			v := view(w)
			v.Text(evil)
			v.EndMessage(true)
			v.Notice(evil)
			v.ToolCall(session.Block{Name: evil, Arguments: json.RawMessage(evil)})
			v.ToolResult(session.Message{Content: session.Content{session.Text(evil)}, IsError: &isError})
			v.Event(api.EventEnvelope{Event: api.ProcessChanged{Process: api.Process{Last: line}}})
			v.Event(api.EventEnvelope{Event: api.SubagentUpdated{Child: api.SubagentChild{SubagentMember: session.SubagentMember{Agent: evil, Title: evil, State: session.ChildState(evil), Error: evil}}}})
			if _, err := v.Decide(t.Context(), approval); err != nil {
				return err
			}
			_, err := v.Answer(t.Context(), api.Question{Question: evil, Choices: []string{evil}})
			_, _ = io.WriteString(w, detail(approval)+risk(approval))
			return err
		},
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !utf8.Valid(out.Bytes()) {
			t.Errorf("%s: %q", name, out.String())
		}
		if at := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && r != '\t' && sanitize.Steers(r) }); at >= 0 {
			t.Errorf("%s: %q", name, out.String()[max(0, at-60):min(at+20, out.Len())])
		}
	}
}
