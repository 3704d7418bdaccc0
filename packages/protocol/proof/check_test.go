package proof_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

func keysOf(t testing.TB, kind ident.Kind) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// log makes the file of a session, line by line, as a host does.
type log struct {
	t      testing.TB
	id     string
	device *ident.Private
	data   []byte
	prev   *session.ChainValue
	next   int
}

func newLog(t testing.TB, id string, device *ident.Private) *log {
	l := &log{t: t, id: id, device: device}
	l.plain(fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-11-22T10:00:00.000Z","cwd":"/home/ada"}`, id))
	return l
}

func (l *log) plain(line string) { l.data, l.prev = append(l.data, line+"\n"...), nil }

func (l *log) add(signed bool, members string) {
	l.t.Helper()
	if l.prev == nil {
		anchor := session.AnchorOf(l.data)
		l.prev = &anchor
	}
	l.next++
	line := fmt.Appendf(nil, `{"type":"custom",%s,"id":"%08x","parentId":null,"timestamp":"2026-11-22T10:00:%02d.000Z","seq":%d}`, members, l.next, l.next%60, l.next)
	if signed {
		public := l.device.Public()
		head := session.Head{SignKey: public.Sign, SealKey: public.Seal}
		copy(head.Signature[:], l.device.Sign(session.HeadMessage(l.id, *l.prev, line[:len(line)-1])))
		line, _ = session.AddHead(line, head)
	}
	linked, value, ok := session.Link(*l.prev, line)
	if !ok {
		l.t.Fatalf("%s takes no chain value", line)
	}
	l.data, l.prev = append(append(l.data, linked...), '\n'), &value
}

func (l *log) record(signed bool, record session.ApprovalRecord) {
	l.t.Helper()
	data, err := session.Encode(record)
	if err != nil {
		l.t.Fatal(err)
	}
	l.add(signed, `"customType":"scorel.approval","data":`+string(data))
}

func (l *log) ask(a api.Approval) {
	l.t.Helper()
	shown, err := session.Encode(a)
	if err != nil {
		l.t.Fatal(err)
	}
	l.record(false, session.ApprovalRecord{ApprovalID: a.ID, ToolCallID: a.ToolCallID, Request: shown})
}

func (l *log) check() api.Proof { return proof.Check(l.data) }

func problems(p api.Proof) (kinds []api.ProofProblemKind) {
	for _, problem := range p.Problems {
		kinds = append(kinds, problem.Kind)
	}
	return kinds
}

// story is a session with some of everything.
func story(t testing.TB) *log {
	l := newLog(t, "ses_1", keysOf(t, ident.KindDevice))
	for i := range 6 {
		l.add(i%3 == 2, fmt.Sprintf(`"customType":"x","data":{"n":%d,"text":"über 😀 \"chain\" %s"}`, i, strings.Repeat("y", i*7)))
	}
	return l
}

func TestAWholeSessionHolds(t *testing.T) {
	l := story(t)
	p := l.check()
	if !p.Holds || p.From != 2 || p.Lines != 7 || p.Unsigned != 0 || len(p.Heads) != 1 {
		t.Fatalf("%+v", p)
	}
	if h := p.Heads[0]; h.DeviceID != l.device.ID() || h.Count != 2 || h.First != 4 || h.Last != 7 {
		t.Errorf("%+v", h)
	}
	l.add(false, `"customType":"x"`)
	if p := l.check(); !p.Holds || p.Unsigned != 1 {
		t.Errorf("%+v", p)
	}
}

func TestWhatIsDoneToALogIsFound(t *testing.T) {
	l := story(t)
	lines := bytes.SplitAfter(bytes.TrimSuffix(l.data, nil), []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	other := keysOf(t, ident.KindDevice)
	for name, c := range map[string]struct {
		data []byte
		line int
		kind api.ProofProblemKind
	}{
		"changed":               {bytes.Replace(l.data, []byte(`"n":2`), []byte(`"n":3`), 1), 4, api.ProblemChanged},
		"the header is changed": {bytes.Replace(l.data, []byte("/home/ada"), []byte("/home/eva"), 1), 2, api.ProblemChanged},
		"removed":               {join(slices.Delete(slices.Clone(lines), 3, 4)...), 4, api.ProblemChanged},
		"the first removed":     {join(slices.Delete(slices.Clone(lines), 1, 2)...), 2, api.ProblemChanged},
		"swapped":               {join(lines[0], lines[1], lines[3], lines[2], lines[4], lines[5], lines[6]), 3, api.ProblemChanged},
		"doubled":               {join(slices.Insert(slices.Clone(lines), 3, lines[2])...), 4, api.ProblemChanged},
		"added by a program":    {join(slices.Insert(slices.Clone(lines), 3, []byte("{\"type\":\"label\",\"id\":\"f\",\"parentId\":null}\n"))...), 4, api.ProblemUnchained},
		"a blank line":          {join(slices.Insert(slices.Clone(lines), 3, []byte("\n"))...), 4, api.ProblemUnchained},
		"added at the end":      {join(append(slices.Clone(lines), []byte("{}\n"))...), 8, api.ProblemUnchained},
		"cut in the last line":  {l.data[:len(l.data)-40], 7, api.ProblemCutOff},
		"all values taken off":  {stripped(lines, nil), 0, api.ProblemNoChain},
		"rewritten":             {rewritten(t, lines, "ses_1", nil, 3), 4, api.ProblemHead},
		"of another session":    {bytes.Replace(rewritten(t, lines, "ses_2", l.device, 0), []byte(`"ses_1"`), []byte(`"ses_3"`), 1), 2, api.ProblemChanged},
		"no session":            {[]byte("hello\n"), 0, api.ProblemNoSession},
		"nothing":               {nil, 0, api.ProblemNoSession},
	} {
		p := proof.Check(c.data)
		if p.Holds || p.Problems[0].Line != c.line || p.Problems[0].Kind != c.kind {
			t.Errorf("%s: %+v", name, p.Problems)
		}
	}
	// A log without its newest lines is whole; a chain value that was kept shows that they are missing.
	newest, err := session.ParseChainValue(proof.Check(l.data).Chain)
	if err != nil {
		t.Fatal(err)
	}
	shorter := join(lines[:len(lines)-1]...)
	if p := proof.Check(shorter); !p.Holds {
		t.Errorf("a shorter log: %+v", p.Problems)
	}
	if p := proof.Check(shorter, newest); p.Holds || p.Problems[0].Kind != api.ProblemMissing {
		t.Errorf("the newest line removed: %+v", p.Problems)
	}
	if p := proof.Check(l.data, newest); !p.Holds {
		t.Errorf("the whole log: %+v", p.Problems)
	}
	// Who has no key of the device can rewrite all of it, and shows as someone else.
	p := proof.Check(rewritten(t, lines, "ses_1", other, 0))
	if !p.Holds || p.Heads[0].DeviceID != other.ID() {
		t.Errorf("%+v", p)
	}
}

// stripped takes the chain values off lines, and changes them.
func stripped(lines [][]byte, change func(i int, line []byte) []byte) (out []byte) {
	for i, line := range lines {
		line = session.Unlinked(bytes.TrimSuffix(line, []byte("\n")))
		if change != nil {
			line = change(i, line)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// rewritten rebuilds the chain over lines that were changed from one on. With a device
// it signs again too; without one the heads stay as they were.
func rewritten(t *testing.T, lines [][]byte, id string, device *ident.Private, from int) []byte {
	t.Helper()
	out := slices.Clone(lines[0])
	prev := session.AnchorOf(out)
	for i, line := range lines[1:] {
		covered, _, _ := session.SplitChain(bytes.TrimSuffix(line, []byte("\n")))
		body, head, signed := session.SplitHead(covered)
		if !signed {
			body = covered
		}
		text := append(slices.Clone(body), '}')
		if i+1 == from-1 {
			text = bytes.Replace(text, []byte(`"n":`), []byte(`"m":`), 1)
		}
		if signed {
			if device != nil {
				public := device.Public()
				head = session.Head{SignKey: public.Sign, SealKey: public.Seal}
				copy(head.Signature[:], device.Sign(session.HeadMessage(id, prev, text[:len(text)-1])))
			}
			text, _ = session.AddHead(text, head)
		}
		linked, value, ok := session.Link(prev, text)
		if !ok {
			t.Fatal("no chain value")
		}
		out, prev = append(append(out, linked...), '\n'), value
	}
	return out
}

// TestEveryByteCounts changes each byte of the chained lines in turn, and many bytes by
// chance.
func TestEveryByteCounts(t *testing.T) {
	l := story(t)
	first := bytes.IndexByte(l.data, '\n') + 1
	for at := first; at < len(l.data); at++ {
		for _, mask := range []byte{1 << (at % 8), 0xff, byte(1 + mathrand.IntN(255))} {
			data := slices.Clone(l.data)
			data[at] ^= mask
			if p := proof.Check(data); p.Holds {
				t.Fatalf("byte %d, %q for %q, is not found", at, data[at], l.data[at])
			}
		}
	}
	for range 2000 {
		data := slices.Clone(l.data)
		from := first + mathrand.IntN(len(data)-first)
		to := from + 1 + mathrand.IntN(len(data)-from)
		if mathrand.IntN(2) == 0 && to < len(data) { // taken out, but for whole lines of the end
			data = slices.Delete(data, from, to)
		} else {
			data = slices.Insert(data, from, data[from:to]...)
		}
		if p := proof.Check(data); p.Holds && !bytes.HasPrefix(l.data, data) {
			t.Fatalf("a change of the bytes %d to %d is not found:\n%s", from, to, data)
		}
	}
}

// TestOldSessionsAreAnchored: what was there before the chain is held from its first line on.
func TestOldSessionsAreAnchored(t *testing.T) {
	l := newLog(t, "ses_1", keysOf(t, ident.KindDevice))
	l.plain(`{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"old"}}`)
	l.plain(``)
	if p := l.check(); p.Holds || p.From != 0 || !slices.Equal(problems(p), []api.ProofProblemKind{api.ProblemNoChain}) {
		t.Errorf("%+v", p)
	}
	l.add(true, `"customType":"x"`)
	l.add(true, `"customType":"x"`)
	if p := l.check(); !p.Holds || p.From != 4 {
		t.Errorf("%+v", p)
	}
	for at := range l.data {
		data := slices.Clone(l.data)
		data[at] ^= 0x20
		if proof.Check(data).Holds {
			t.Fatalf("byte %d is not held", at)
		}
	}
}

func TestAnswersAreChecked(t *testing.T) {
	device, client, thief := keysOf(t, ident.KindDevice), keysOf(t, ident.KindClient), keysOf(t, ident.KindClient)
	asked := api.Approval{
		ID: "apr_1", ToolCallID: "c", ToolName: "bash", Title: "rm -rf build", Detail: strings.Repeat("x", 100), Command: "rm -rf build",
		ProposedRules: []string{"bash(rm *)"}, Shown: "ab",
	}
	good := proof.Answer{DeviceID: device.ID(), SessionID: "ses_1", ApprovalID: "apr_1", Shown: proof.Shown(asked), Decision: api.DecisionDeny, Feedback: "no", At: 5}
	record := func(change func(*session.ApprovalRecord)) session.ApprovalRecord {
		r := session.ApprovalRecord{
			ApprovalID: "apr_1", ToolCallID: "c", Decision: "deny", DecidedBy: client.ID().String(), Feedback: "no", Signature: good.Sign(client),
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	other := asked
	other.Title = "rm -rf doc"
	for name, c := range map[string]struct {
		asked  *api.Approval
		answer session.ApprovalRecord
		ok     bool
	}{
		"as it was given":      {&asked, record(nil), true},
		"at the terminal":      {&asked, record(func(r *session.ApprovalRecord) { r.DecidedBy = "host" }), true},
		"another decision":     {&asked, record(func(r *session.ApprovalRecord) { r.Decision = "allow" }), false},
		"another word":         {&asked, record(func(r *session.ApprovalRecord) { r.Feedback = "yes" }), false},
		"with a rule":          {&asked, record(func(r *session.ApprovalRecord) { r.Rules = asked.ProposedRules }), false},
		"to something else":    {&other, record(nil), false},
		"to nothing":           {nil, record(nil), false},
		"in another's name":    {&asked, record(func(r *session.ApprovalRecord) { r.DecidedBy = thief.ID().String() }), false},
		"by another":           {&asked, record(func(r *session.ApprovalRecord) { r.Signature = good.Sign(thief) }), false},
		"at another time":      {&asked, record(func(r *session.ApprovalRecord) { r.Signature.At++ }), false},
		"for another machine":  {&asked, record(func(r *session.ApprovalRecord) { r.Signature.DeviceID = keysOf(t, ident.KindDevice).ID().String() }), false},
		"in another session":   {&asked, record(func(r *session.ApprovalRecord) { r.Signature.SessionID = "ses_2" }), false},
		"another seal key":     {&asked, record(func(r *session.ApprovalRecord) { r.Signature.SealKey = thief.Public().Seal.String() }), false},
		"a key that is no key": {&asked, record(func(r *session.ApprovalRecord) { r.Signature.SignKey = "x" }), false},
	} {
		l := newLog(t, "ses_1", device)
		if c.asked != nil {
			l.ask(*c.asked)
		}
		l.record(true, c.answer)
		p := l.check()
		if p.Holds != c.ok || len(p.Approvals) != 1 || (p.Approvals[0].Signer == client.ID()) != c.ok {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestLongQuestionsAreChecked: a log that keeps a part of a detail keeps its hash.
func TestLongQuestionsAreChecked(t *testing.T) {
	device, client := keysOf(t, ident.KindDevice), keysOf(t, ident.KindClient)
	asked := api.Approval{ID: "apr_1", Detail: "all of it"}
	answer := proof.Answer{DeviceID: device.ID(), SessionID: "ses_1", ApprovalID: "apr_1", Shown: proof.Shown(asked), Decision: api.DecisionAllow}
	for hash, ok := range map[string]bool{proof.DetailHash("all of it"): true, proof.DetailHash("all of"): false, "x": false} {
		l := newLog(t, "ses_1", device)
		l.record(false, session.ApprovalRecord{ApprovalID: "apr_1", Request: json.RawMessage(`{"id":"apr_1","detail":"all"}`), DetailHash: hash})
		l.record(true, session.ApprovalRecord{ApprovalID: "apr_1", Decision: "allow", DecidedBy: client.ID().String(), Signature: answer.Sign(client)})
		if p := l.check(); p.Holds != ok {
			t.Errorf("%s: %+v", hash, p.Problems)
		}
	}
}

func TestAProofIsBounded(t *testing.T) {
	l := newLog(t, "ses_1", keysOf(t, ident.KindDevice))
	for range 3*api.MaxProofApprovals + 7 {
		l.record(false, session.ApprovalRecord{ApprovalID: "apr", Decision: "deny", DecidedBy: "host"})
	}
	p := l.check()
	if len(p.Approvals) != api.MaxProofApprovals || p.EarlierApprovals != 2*api.MaxProofApprovals+7 || p.Approvals[len(p.Approvals)-1].Line != p.Lines {
		t.Errorf("%d approvals, %d earlier", len(p.Approvals), p.EarlierApprovals)
	}
	p = proof.Check(append(l.data, bytes.Repeat([]byte("{}\n"), 500)...))
	if len(p.Problems) != api.MaxProofProblems || p.MoreProblems != 400 {
		t.Errorf("%d problems, %d more", len(p.Problems), p.MoreProblems)
	}
}

func FuzzCheck(f *testing.F) {
	l := story(f)
	l.ask(api.Approval{ID: "apr_1"})
	f.Add(l.data)
	f.Add([]byte("{\"type\":\"session\",\"id\":\"s\"}\n\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := proof.Check(data)
		if p.Holds != (len(p.Problems) == 0 && p.From > 0) {
			t.Errorf("%+v", p)
		}
	})
}
