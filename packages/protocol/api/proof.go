package api

import "github.com/scorel/scorel/packages/protocol/ident"

// Limits of a Proof. Omitted items are counted.
const (
	MaxProofApprovals = 1000 // the newest
	MaxProofProblems  = 100  // the first
)

// Proof is what the log of a session proves: its hash chain, the heads that hosts
// signed, and who answered its approvals. Lines count from 1, the header.
type Proof struct {
	SessionID string `json:"sessionId"`
	// Holds is true if there is a chain and Problems is empty.
	Holds bool `json:"holds"`
	Lines int  `json:"lines"`
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
	Problems         []ProofProblem `json:"problems"`
	// Moves lists where the session was handed over to another device, in log order.
	Moves        []ProofMove `json:"moves,omitempty"`
	MoreProblems int         `json:"moreProblems,omitempty"`
}

// MaxProofMoves bounds the moves of a Proof; the newest are kept.
const MaxProofMoves = 100

// ProofMove is an entry in which one device hands the session over to another one, and which
// it has signed.
type ProofMove struct {
	Line int    `json:"line"`
	From string `json:"from"` // device
	To   string `json:"to"`   // device
	At   string `json:"at,omitempty"`
}

// ProofHeads summarizes the heads of one device.
type ProofHeads struct {
	DeviceID ident.ID `json:"deviceId"`
	Count    int      `json:"count"`
	First    int      `json:"first"` // line
	Last     int      `json:"last"`  // line
	LastAt   string   `json:"lastAt,omitempty"`
}

// ProofApproval is one decision.
type ProofApproval struct {
	Line       int      `json:"line"`
	EntryID    string   `json:"entryId"`
	ApprovalID string   `json:"approvalId"`
	ToolName   string   `json:"toolName,omitempty"`
	Title      string   `json:"title,omitempty"` // title of the approval
	Decision   Decision `json:"decision"`
	Rules      []string `json:"rules,omitempty"` // rules that were saved
	DecidedBy  string   `json:"decidedBy"`       // client id, token id, or "host"
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
	Kind    ProofProblemKind `json:"kind"`
	Line    int              `json:"line,omitempty"`
	EntryID string           `json:"entryId,omitempty"`
	What    string           `json:"what"` // one sentence
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
