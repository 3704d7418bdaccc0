package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Check reads the bytes of a session file and returns what they prove. Time and
// memory are proportional to their length, whatever they contain. Each of the known
// chain values must be in the log, which shows that nothing after it has been
// removed since.
func Check(data []byte, known ...session.ChainValue) api.Proof {
	c := &checker{
		known: slices.Clone(known),
		proof: api.Proof{Heads: []api.ProofHeads{}, Approvals: []api.ProofApproval{}, Problems: []api.ProofProblem{}},
		data:  data, before: session.NewAnchor(), asked: map[string]question{},
	}
	for at := 0; at < len(data); {
		line, _, ended := bytes.Cut(data[at:], []byte{'\n'})
		c.line(line, at, ended)
		at += len(line) + 1
	}
	c.end()
	return c.proof
}

// checker processes a file once, line by line.
type checker struct {
	proof  api.Proof
	data   []byte
	before hash.Hash // of the bytes up to hashed, for anchors
	hashed int
	header session.Header
	prev   session.ChainValue // of the previous line
	linked bool               // the previous line has a value
	value  session.ChainValue // of the last line with one
	asked  map[string]question
	known  []session.ChainValue // not found in a line so far
}

func (c *checker) line(line []byte, at int, ended bool) {
	c.proof.Lines++
	if c.proof.Lines == 1 {
		c.first(line)
	}
	if !ended {
		c.problem(api.ProblemCutOff, line, "the last line does not end: a crash cut it off while it was written, or it was changed")
	}
	covered, value, ok := session.SplitChain(line)
	if !ok {
		if c.proof.From > 0 {
			c.problem(api.ProblemUnchained, line, "the line has no chain value although one before it has: another program added it, or it was changed")
		}
		c.linked = false
		return
	}
	if !c.linked {
		c.prev = c.anchor(at)
	}
	if c.proof.From == 0 {
		c.proof.From = c.proof.Lines
	}
	if session.NextChain(c.prev, covered) != value {
		c.problem(api.ProblemChanged, line, "the line does not follow the one before it: a line was changed, removed, added or moved here")
	}
	c.proof.Unsigned++
	if body, head, signed := session.SplitHead(covered); signed {
		c.head(line, body, head)
	}
	c.approval(line)
	c.prev, c.value, c.linked = value, value, true
	c.known = slices.DeleteFunc(c.known, func(v session.ChainValue) bool { return v == value })
}

func (c *checker) first(line []byte) {
	header, err := session.ParseHeader(line)
	if err != nil {
		c.problem(api.ProblemNoSession, nil, "the first line is not the header of a session")
	}
	c.header, c.proof.SessionID = header, header.ID
}

// anchor returns the value at which a chain beginning at an offset starts. Every
// byte is hashed once for all anchors.
func (c *checker) anchor(at int) session.ChainValue {
	c.before.Write(c.data[c.hashed:at])
	c.hashed = at
	return session.ChainValue(c.before.Sum(nil))
}

func (c *checker) head(line, body []byte, head session.Head) {
	keys := ident.Public{Sign: head.SignKey, Seal: head.SealKey}
	if !keys.Sign.Verify(session.HeadMessage(c.header.ID, c.prev, body), head.Signature[:]) {
		c.problem(api.ProblemHead, line, "the line has a head whose signature is wrong: the line or what is before it was changed, or the session's id")
		return
	}
	c.proof.Unsigned = 0
	id := ident.NewID(ident.KindDevice, keys)
	entry, _ := session.ParseEntry(line) // a missing time stays empty
	c.moved(entry, id)
	for i := range c.proof.Heads {
		if known := &c.proof.Heads[i]; known.DeviceID == id {
			known.Count++
			known.Last, known.LastAt = c.proof.Lines, entry.Timestamp
			return
		}
	}
	c.proof.Heads = append(c.proof.Heads, api.ProofHeads{DeviceID: id, Count: 1, First: c.proof.Lines, Last: c.proof.Lines, LastAt: entry.Timestamp})
}

// moved records that the signer of an entry hands the session over in it.
func (c *checker) moved(entry session.Entry, signer ident.ID) {
	if entry.CustomType != session.CustomMoved {
		return
	}
	custom, ok := entry.AsCustom()
	var record session.MovedRecord
	if !ok || json.Unmarshal(custom.Data, &record) != nil || record.Arrived || record.From != signer.String() {
		return
	}
	c.proof.Moves = append(c.proof.Moves, api.ProofMove{Line: c.proof.Lines, From: record.From, To: clip(record.To, maxName), At: entry.Timestamp})
	if extra := len(c.proof.Moves) - api.MaxProofMoves; extra > 0 {
		c.proof.Moves = c.proof.Moves[extra:]
	}
}

func (c *checker) end() {
	c.proof.Chain = ""
	if c.proof.From > 0 {
		c.proof.Chain = c.value.String()
	}
	if c.proof.Lines == 0 {
		c.problem(api.ProblemNoSession, nil, "the file is empty")
	}
	if c.proof.From == 0 {
		c.problem(api.ProblemNoChain, nil, "no line has a chain value: the session comes from Pi or an older scorel, or the values were removed")
	}
	for _, value := range c.known {
		c.problem(api.ProblemMissing, nil, fmt.Sprintf("the log does not contain the chain value %s: its newest lines were removed, it is an older copy, or it was rewritten", value))
	}
	if extra := len(c.proof.Approvals) - api.MaxProofApprovals; extra > 0 {
		c.proof.Approvals = c.proof.Approvals[extra:]
		c.proof.EarlierApprovals += extra
	}
	c.proof.Holds = len(c.proof.Problems) == 0
}

// problem records a problem with the current line, or with the whole log if line is
// nil.
func (c *checker) problem(kind api.ProofProblemKind, line []byte, what string) {
	if len(c.proof.Problems) == api.MaxProofProblems {
		c.proof.MoreProblems++
		return
	}
	p := api.ProofProblem{Kind: kind, What: what}
	if line != nil {
		p.Line, p.What = c.proof.Lines, fmt.Sprintf("line %d: %s", c.proof.Lines, what)
		if entry, err := session.ParseEntry(line); err == nil {
			p.EntryID = clip(entry.ID, maxName)
		}
	}
	c.proof.Problems = append(c.proof.Problems, p)
}

// Limits on what a proof repeats of a file.
const (
	maxName  = 128
	maxTitle = 300
)

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 { // do not cut inside a character
		most--
	}
	return s[:most] + "..."
}

// question is an approval as it was asked.
type question struct {
	title, tool string
	rules       []string
	shown       Digest
}

// approval processes a line that asks for an approval or decides one.
func (c *checker) approval(line []byte) {
	if !bytes.Contains(line, []byte(session.CustomApproval)) {
		return
	}
	entry, err := session.ParseEntry(line)
	if err != nil || entry.CustomType != session.CustomApproval {
		return
	}
	var custom session.CustomEntry
	var record session.ApprovalRecord
	if json.Unmarshal(line, &custom) != nil || json.Unmarshal(custom.Data, &record) != nil {
		c.problem(api.ProblemApproval, line, "the approval cannot be read")
		return
	}
	if record.Decision == "" {
		c.asked[record.ApprovalID] = questionOf(record)
		return
	}
	c.decided(line, entry, record)
}

func questionOf(record session.ApprovalRecord) question {
	var asked api.Approval
	_ = json.Unmarshal(record.Request, &asked) // on error the digest matches no signature
	q := question{title: clip(asked.Title, maxTitle), tool: clip(asked.ToolName, maxName), rules: asked.ProposedRules, shown: Shown(asked)}
	if record.DetailHash != "" {
		var sum [sha256.Size]byte
		if decodeExactly(sum[:], record.DetailHash) {
			q.shown = shown(asked, sum)
		}
	}
	return q
}

func (c *checker) decided(line []byte, entry session.Entry, record session.ApprovalRecord) {
	asked, known := c.asked[record.ApprovalID]
	p := api.ProofApproval{
		Line: c.proof.Lines, EntryID: clip(entry.ID, maxName), ApprovalID: clip(record.ApprovalID, maxName), ToolName: asked.tool, Title: asked.title,
		Decision: api.Decision(clip(record.Decision, maxName)), Rules: record.Rules, DecidedBy: clip(record.DecidedBy, maxName), At: entry.Timestamp, Released: record.Released != nil,
	}
	if record.Signature != nil {
		if what := c.signed(&p, record, asked, known); what != "" {
			c.problem(api.ProblemApproval, line, what)
		}
	}
	c.proof.Approvals = append(c.proof.Approvals, p)
	if len(c.proof.Approvals) > 2*api.MaxProofApprovals {
		c.proof.Approvals = append(c.proof.Approvals[:0], c.proof.Approvals[api.MaxProofApprovals:]...)
		c.proof.EarlierApprovals += api.MaxProofApprovals
	}
}

// signed verifies the signature of a decision and returns what is wrong with it.
func (c *checker) signed(p *api.ProofApproval, record session.ApprovalRecord, asked question, known bool) string {
	if !known {
		return "the answer is signed, but the approval is not in the log"
	}
	if record.Signature.SessionID != c.header.ID && c.header.Origin.SessionID == "" {
		return "the answer was given in another session, and this session is not a fork"
	}
	answer := Answer{
		ApprovalID: record.ApprovalID, Shown: asked.shown, Decision: api.Decision(record.Decision), Feedback: record.Feedback, Rules: record.Rules,
	}
	client, err := answer.Verify(*record.Signature)
	switch {
	case err != nil:
		return "the answer is not what its client signed: " + err.Error()
	case client.String() != record.DecidedBy && record.DecidedBy != "host":
		return "the answer is signed by a different client than the one it names"
	}
	p.Signer, p.SignedAt = client, record.Signature.At
	return ""
}
