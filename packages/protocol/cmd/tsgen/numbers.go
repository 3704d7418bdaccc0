package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// number is a constant that both ends must agree on. A time is in seconds.
type number struct {
	pkg, name string
	value     int
}

// numbers lists the constants in the order of the references. A test finds those that are missing.
func numbers() []number { return append(relayNumbers(), hostNumbers()...) }

func relayNumbers() []number {
	return []number{
		{"wire", "Version", wire.Version},
		{"wire", "MaxPreLogin", wire.MaxPreLogin},
		{"wire", "MaxControl", wire.MaxControl},
		{"wire", "MaxRecordPayload", wire.MaxRecordPayload},
		{"wire", "RecordHeaderLen", wire.RecordHeaderLen},
		{"wire", "MaxRecord", wire.MaxRecord},
		{"wire", "MaxMessage", wire.MaxMessage},
		{"wire", "MaxLabel", wire.MaxLabel},
		{"wire", "MaxRequestID", wire.MaxRequestID},
		{"wire", "MaxPairBody", wire.MaxPairBody},
		{"wire", "MaxAuthority", wire.MaxAuthority},
		{"wire", "MaxInvite", wire.MaxInvite},
		{"wire", "NonceLen", wire.NonceLen},
		{"wire", "MaxChannelsPerEntry", wire.MaxChannelsPerEntry},
		{"wire", "MaxChannelsPerHost", wire.MaxChannelsPerHost},
		{"wire", "MaxBindings", wire.MaxBindings},
		{"wire", "SlotLen", wire.SlotLen},
		{"wire", "LoginTimeout", int(wire.LoginTimeout / time.Second)},
		{"wire", "PairTimeout", int(wire.PairTimeout / time.Second)},
		{"wire", "DeadPeerTimeout", int(wire.DeadPeerTimeout / time.Second)},
		{"wire", "MaxClaimAge", int(wire.MaxClaimAge / time.Second)},
		{"wire", "MaxClaimAhead", int(wire.MaxClaimAhead / time.Second)},
		{"ident", "IDLen", ident.IDLen},
		{"ident", "KeyLen", ident.KeyLen},
		{"pair", "SecretLen", pair.SecretLen},
		{"pair", "NonceLen", pair.NonceLen},
		{"pair", "TagLen", pair.TagLen},
		{"seal", "HandshakeLen", seal.HandshakeLen},
		{"seal", "MaxRecord", seal.MaxRecord},
		{"seal", "MaxMessage", seal.MaxMessage},
		{"seal", "Window", seal.Window},
		{"seal", "AckEvery", seal.AckEvery},
	}
}

func hostNumbers() []number {
	return []number{
		{"api", "MaxPrompt", api.MaxPrompt},
		{"api", "MaxPath", api.MaxPath},
		{"api", "MaxName", api.MaxName},
		{"api", "MaxClientKey", api.MaxClientKey},
		{"api", "MaxAnswer", api.MaxAnswer},
		{"api", "MaxChoices", api.MaxChoices},
		{"api", "MaxApprovalChoices", api.MaxApprovalChoices},
		{"api", "MaxFeedback", api.MaxFeedback},
		{"api", "MaxRules", api.MaxRules},
		{"api", "MaxQueue", api.MaxQueue},
		{"api", "MaxLabel", api.MaxLabel},
		{"api", "MaxFocus", api.MaxFocus},
		{"api", "MaxKey", api.MaxKey},
		{"api", "MaxCost", api.MaxCost},
		{"api", "MaxSessions", api.MaxSessions},
		{"api", "MaxMoveItems", api.MaxMoveItems},
		{"api", "MaxMoveItem", api.MaxMoveItem},
		{"api", "MaxMoveLog", api.MaxMoveLog},
		{"api", "MaxMoveTree", api.MaxMoveTree},
		{"api", "MaxMoveBytes", api.MaxMoveBytes},
		{"api", "MaxMovePart", api.MaxMovePart},
		{"api", "MaxMoveSkipped", api.MaxMoveSkipped},
		{"api", "MaxProofMoves", api.MaxProofMoves},
		{"api", "MaxProofApprovals", api.MaxProofApprovals},
		{"api", "MaxProofProblems", api.MaxProofProblems},
		{"api", "MaxKeptRules", api.MaxKeptRules},
		{"api", "MaxTreeNodes", api.MaxTreeNodes},
		{"api", "MaxVersions", api.MaxVersions},
		{"api", "MaxQueueBytes", api.MaxQueueBytes},
		{"api", "RingBytes", api.RingBytes},
		{"api", "WindowEntries", api.WindowEntries},
		{"api", "MaxQuery", api.MaxQuery},
		{"api", "MaxHits", api.MaxHits},
		{"api", "MaxSessionHits", api.MaxSessionHits},
		{"api", "WindowBytes", api.WindowBytes},
		{"api", "MaxEntryBytes", api.MaxEntryBytes},
		{"api", "MaxMeta", api.MaxMeta},
		{"api", "MaxMetaKey", api.MaxMetaKey},
		{"api", "MaxMetaValue", api.MaxMetaValue},
		{"api", "MaxImages", api.MaxImages},
		{"api", "MaxImageBytes", api.MaxImageBytes},
		{"api", "MaxImagesBytes", api.MaxImagesBytes},
		{"api", "MaxImagePixels", api.MaxImagePixels},
		{"api", "MaxBlobChunk", api.MaxBlobChunk},
		{"api", "MaxFiles", api.MaxFiles},
		{"api", "MaxFileBytes", api.MaxFileBytes},
		{"api", "MaxFilesBytes", api.MaxFilesBytes},
		{"api", "MaxFilesOfSession", api.MaxFilesOfSession},
		{"api", "MaxQueueImages", api.MaxQueueImages},
		{"api", "MaxBlobsOfClient", api.MaxBlobsOfClient},
		{"api", "MaxBlobs", api.MaxBlobs},
		{"api", "MaxTerminals", api.MaxTerminals},
		{"api", "MaxAllTerminals", api.MaxAllTerminals},
		{"api", "TerminalBytes", api.TerminalBytes},
		{"api", "TerminalWindow", api.TerminalWindow},
		{"api", "MaxTerminalChunk", api.MaxTerminalChunk},
		{"api", "MaxTerminalInput", api.MaxTerminalInput},
		{"api", "MaxTerminalSide", api.MaxTerminalSide},
		{"api", "MaxFileEntries", api.MaxFileEntries},
		{"api", "MaxFound", api.MaxFound},
		{"api", "MaxFilePart", api.MaxFilePart},
		{"api", "MaxFileDiff", api.MaxFileDiff},
		{"api", "MaxCommits", api.MaxCommits},
		{"api", "MaxBranches", api.MaxBranches},
		{"api", "MaxCommitPaths", api.MaxCommitPaths},
		{"api", "MaxMessage", api.MaxMessage},
		{"api", "MaxGuests", api.MaxGuests},
		{"api", "MaxGuestTime", int(api.MaxGuestTime / time.Second)},
		{"api", "MaxTranscripts", api.MaxTranscripts},
		{"api", "MaxToolTail", api.MaxToolTail},
	}
}

// numberTable returns the table of numbers, with the comments of their declarations.
func (g *generator) numberTable(all []number) (string, error) {
	var text strings.Builder
	text.WriteString("\n## Numbers\n\nTimes are in seconds, sizes in bytes.\n\n| name | value | meaning |\n|---|---|---|\n")
	for _, n := range all {
		doc := g.sources[n.pkg].comments[n.name]
		if doc == "" {
			return "", fmt.Errorf("the number %s.%s has no comment", n.pkg, n.name)
		}
		fmt.Fprintf(&text, "| `%s.%s` | %d | %s |\n", n.pkg, n.name, n.value, cell(doc))
	}
	return text.String(), nil
}
