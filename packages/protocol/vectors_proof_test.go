package protocol_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// chainCase is a file and the first line of it that is broken; 0 where the chain holds.
type chainCase struct {
	Why    string `json:"why"`
	File   string `json:"file"`
	Broken int    `json:"broken"`
}

// chained makes a session of a header, a line of another program, and lines of ours. The
// last one is signed.
func chained(t *testing.T, device *ident.Private, lines ...string) string {
	t.Helper()
	before := `{"type":"session","version":3,"id":"ses_1","timestamp":"2026-11-22T10:00:00.000Z","cwd":"/home/ada"}` + "\n" +
		`{"type":"custom","customType":"pi","id":"00000001","parentId":null,"timestamp":"2026-11-22T10:00:01.000Z"}` + "\n"
	out, prev := before, session.AnchorOf([]byte(before))
	for i, text := range lines {
		line := []byte(text)
		if i == len(lines)-1 {
			public := device.Public()
			head := session.Head{SignKey: public.Sign, SealKey: public.Seal}
			copy(head.Signature[:], device.Sign(session.HeadMessage("ses_1", prev, line[:len(line)-1])))
			signed, ok := session.AddHead(line, head)
			if !ok {
				t.Fatal("the line takes no head")
			}
			line = signed
		}
		linked, value, ok := session.Link(prev, line)
		if !ok {
			t.Fatal("the line takes no chain value")
		}
		out, prev = out+string(linked)+"\n", value
	}
	return out
}

func TestVectorsChain(t *testing.T) {
	device := testKeys(t, ident.KindDevice, 3)
	file := chained(t, device,
		`{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-11-22T10:00:02.000Z","message":{"role":"user","content":"grüße 😀"},"seq":1}`,
		`{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-11-22T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"\"chain\""}]},"seq":2}`,
		`{"type":"session_info","id":"00000004","parentId":"00000003","timestamp":"2026-11-22T10:00:04.000Z","name":"x","seq":3}`)
	lines := strings.SplitAfter(file, "\n")
	without := func(at ...int) string {
		out := ""
		for i, line := range lines {
			keep := true
			for _, n := range at {
				keep = keep && i != n
			}
			if keep {
				out += line
			}
		}
		return out
	}
	covered, _, _ := session.SplitChain([]byte(strings.TrimSuffix(lines[4], "\n")))
	body, head, _ := session.SplitHead(covered)
	_, before, _ := session.SplitChain([]byte(strings.TrimSuffix(lines[3], "\n")))
	content := struct {
		Device  party       `json:"device"`
		Cases   []chainCase `json:"cases"`
		Message string      `json:"headMessage"` // of the last line of the first case, hex
		Sig     string      `json:"headSignature"`
	}{
		Device: partyOf(device),
		Cases: []chainCase{
			{"whole", file, 0},
			{"no chain", lines[0] + lines[1], 0},
			{"shorter by its end", without(4), 0},
			{"a line before the chain is changed", strings.Replace(file, `"pi"`, `"po"`, 1), 3},
			{"a line is changed", strings.Replace(file, "grüße", "grüsse", 1), 3},
			{"a line is taken out", without(3), 4},
			{"two lines are swapped", lines[0] + lines[1] + lines[3] + lines[2] + lines[4], 3},
			{"a line is added", lines[0] + lines[1] + lines[2] + lines[1] + lines[3] + lines[4], 4},
			{"a value is taken off", strings.Replace(file, `"chain":"`, `"chxin":"`, 1), 4},
			{"a value has another form", lines[0] + lines[1] + lines[2] + strings.Replace(lines[3], `"}`+"\n", `" }`+"\n", 1) + lines[4], 4},
			{"the head is taken off", strings.Replace(file, string(covered[len(body):]), "", 1), 5},
			{"the last line does not end", strings.TrimSuffix(file, "\n"), 5},
		},
		Message: hex.EncodeToString(session.HeadMessage("ses_1", before, body)),
		Sig:     hex.EncodeToString(head.Signature[:]),
	}
	checkFile(t, "chain.json", content)
	for _, c := range content.Cases {
		p, first := proof.Check([]byte(c.File)), 0
		for _, problem := range p.Problems {
			if first == 0 {
				first = problem.Line
			}
		}
		if first != c.Broken {
			t.Errorf("%s: line %d is the first broken one, want %d: %v", c.Why, first, c.Broken, p.Problems)
		}
	}
	if !device.Public().Sign.Verify(unhex(t, content.Message), head.Signature[:]) {
		t.Error("the head does not verify")
	}
}

func TestVectorsAnswers(t *testing.T) {
	device, client := testKeys(t, ident.KindDevice, 3), testKeys(t, ident.KindClient, 9)
	type answerCase struct {
		Why       string                  `json:"why"`
		SessionID string                  `json:"sessionId"`
		Approval  api.Approval            `json:"approval"`
		Decision  api.Decision            `json:"decision"`
		Feedback  string                  `json:"feedback,omitempty"`
		At        int64                   `json:"at"`
		Shown     proof.Digest            `json:"-"`
		Digest    string                  `json:"shown"`
		Message   string                  `json:"message"` // hex
		Signature session.AnswerSignature `json:"signature"`
	}
	full := api.Approval{
		ID: "apr_1", TurnID: "turn_1", ToolCallID: "call_1", ToolName: "bash", Title: "run make", Detail: "make -C grüße\n😀", Cwd: "/home/ada", CreatedAt: 1,
		Command: "make", Paths: []string{"a", ""}, Reason: "it asks", Risk: &api.Risk{Level: api.RiskHigh, Reasons: []string{"network"}},
		ProposedRules: []string{"bash(make *)"}, Shown: "00ff",
	}
	content := struct {
		Device party        `json:"device"`
		Client party        `json:"client"`
		Cases  []answerCase `json:"cases"`
	}{partyOf(device), partyOf(client), []answerCase{
		{Why: "few fields", SessionID: "ses_1", Approval: api.Approval{ID: "apr_0", ToolCallID: "c", ToolName: "t"}, Decision: api.DecisionAllow, At: 1},
		{Why: "all fields", SessionID: "ses_1", Approval: full, Decision: api.DecisionDeny, Feedback: "nicht so", At: 1763805600123},
		{Why: "a rule is kept", SessionID: "ses_2", Approval: full, Decision: api.DecisionAlways, At: 9007199254740991},
	}}
	for i := range content.Cases {
		c := &content.Cases[i]
		answer := proof.Answer{
			DeviceID: device.ID(), SessionID: c.SessionID, ApprovalID: c.Approval.ID, Shown: proof.Shown(c.Approval),
			Decision: c.Decision, Feedback: c.Feedback, Rules: proof.Kept(c.Approval, c.Decision), At: c.At,
		}
		c.Digest, c.Message, c.Signature = answer.Shown.String(), hex.EncodeToString(answer.Message(client.ID())), *answer.Sign(client)
		if signer, err := answer.Verify(c.Signature); err != nil || signer != client.ID() {
			t.Errorf("%s: %s, %v", c.Why, signer, err)
		}
		answer.Feedback += "x"
		if _, err := answer.Verify(c.Signature); err == nil {
			t.Errorf("%s: the signature is good for another answer", c.Why)
		}
	}
	checkFile(t, "answers.json", content)
}
