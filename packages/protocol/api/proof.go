package api

import "github.com/scorel/scorel/packages/protocol/ident"

// Limits of a Proof. Omitted items are counted.
const (
	MaxProofApprovals = 1000 // approvals in a proof: the newest
	MaxProofProblems  = 100  // problems in a proof: the first
)

// Proof is what the log of a session proves: its hash chain, the heads that hosts
// signed, and who answered its approvals. Lines count from 1, the header.
type Proof struct {
	SessionID string `json:"sessionId"` // as the header says
	// Holds is true if there is a chain and Problems is empty.
	Holds bool `json:"holds"`
	Lines int  `json:"lines"` // lines of the file, including the header
	// From is the first line with a chain value, or 0 if there is none. That value
	// commits to the lines before it as they were when it was written.
	From  int    `json:"from"`
	Chain string `json:"chain,omitempty"` // chain value of the last line
	// Heads are grouped by device, in the order of their first signatures.
	Heads []ProofHeads `json:"heads"`
	// Unsigned counts the lines after the last head.
	Unsigned int `json:"unsigned,omitempty"`
	// Approvals lists the decided approvals in log order.
	Approvals []ProofApproval `json:"approvals"`
	// EarlierApprovals counts older approvals that were omitted.
	EarlierApprovals int            `json:"earlierApprovals,omitempty"`
	Problems         []ProofProblem `json:"problems"` // at most 100
	// Moves lists where the session was handed over to another device, in log order.
	Moves        []ProofMove `json:"moves,omitempty"`
	MoreProblems int         `json:"moreProblems,omitempty"` // how many later ones are left out
}

// MaxProofMoves bounds the moves of a Proof; the newest are kept.
const MaxProofMoves = 100

// ProofMove is an entry in which one device hands the session over to another one, and which
// it has signed.
type ProofMove struct {
	Line int    `json:"line"`         // of the entry, which the device in "from" has signed
	From string `json:"from"`         // device that hands the session over
	To   string `json:"to"`           // device that it is handed over to
	At   string `json:"at,omitempty"` // time of the entry
}

// ProofHeads summarizes the heads of one device.
type ProofHeads struct {
	DeviceID ident.ID `json:"deviceId"`         // the host whose key signed
	Count    int      `json:"count"`            // how many heads it signed
	First    int      `json:"first"`            // line
	Last     int      `json:"last"`             // line
	LastAt   string   `json:"lastAt,omitempty"` // time of the entry with the last head
}

// ProofApproval is one decision.
type ProofApproval struct {
	Line       int      `json:"line"`               // of the decision
	EntryID    string   `json:"entryId"`            // of the decision
	ApprovalID string   `json:"approvalId"`         // the approval that was decided
	ToolName   string   `json:"toolName,omitempty"` // the tool of its call
	Title      string   `json:"title,omitempty"`    // title of the approval
	Decision   Decision `json:"decision"`           // as in approval_resolved
	Rules      []string `json:"rules,omitempty"`    // rules that were saved
	DecidedBy  string   `json:"decidedBy"`          // client id, token id, or "host"
	// Label is the label of the client or token, if the host still knows it.
	Label string `json:"label,omitempty"`
	At    string `json:"at,omitempty"` // timestamp of the entry
	// Released is true if a rule or a mode allowed the call and no one answered.
	Released bool `json:"released,omitempty"`
	// Signer is the client whose signature of the answer was verified; absent if
	// the answer is not signed.
	Signer   ident.ID `json:"signer,omitzero"`
	SignedAt int64    `json:"signedAt,omitempty"` // Unix milliseconds, by the signer's clock
}

// ProofProblemKind classifies problems.
type ProofProblemKind string

const (
	ProblemChanged   ProofProblemKind = "changed"    // the line does not follow the one before it
	ProblemUnchained ProofProblemKind = "unchained"  // a line without a value after one with a value
	ProblemCutOff    ProofProblemKind = "cut_off"    // the last line is incomplete
	ProblemMissing   ProofProblemKind = "missing"    // the required chain value is not in the log
	ProblemHead      ProofProblemKind = "head"       // a head with an invalid signature
	ProblemApproval  ProofProblemKind = "approval"   // an answer that does not match its signature
	ProblemNoChain   ProofProblemKind = "no_chain"   // the log has no chain
	ProblemNoSession ProofProblemKind = "no_session" // the first line is not a header
)

// ProofProblem is a problem found in a log.
type ProofProblem struct {
	// Kind is "changed", "unchained", "cut_off", "missing", "head", "approval", "no_chain" or
	// "no_session" (protocol.md, section 10.2).
	Kind    ProofProblemKind `json:"kind"`
	Line    int              `json:"line,omitempty"`    // the line, if the problem is in one
	EntryID string           `json:"entryId,omitempty"` // the entry, if the problem is in one
	What    string           `json:"what"`              // one sentence
}

// VerifySessionResponse reports what the log of a session proves.
type VerifySessionResponse struct {
	Proof Proof `json:"proof"`
}

// VerifySessionRequest requests the verification of a session's log.
type VerifySessionRequest struct {
	SessionID string `json:"sessionId"`
	// Contains is the chain value of an earlier proof (43 characters). The log must
	// contain it: a log whose newest lines were removed, or an older copy, does
	// not.
	Contains string `json:"contains,omitempty"`
}
