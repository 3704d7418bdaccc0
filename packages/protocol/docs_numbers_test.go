package protocol_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// numbers are the constants that both ends of the wire must agree on. A time is
// written in seconds.
var numbers = map[string]int{
	"wire.Version": wire.Version, "wire.MaxPreLogin": wire.MaxPreLogin, "wire.MaxControl": wire.MaxControl,
	"wire.MaxRecordPayload": wire.MaxRecordPayload, "wire.RecordHeaderLen": wire.RecordHeaderLen,
	"wire.MaxRecord": wire.MaxRecord, "wire.MaxMessage": wire.MaxMessage, "wire.MaxLabel": wire.MaxLabel,
	"wire.MaxRequestID": wire.MaxRequestID, "wire.MaxPairBody": wire.MaxPairBody, "wire.MaxAuthority": wire.MaxAuthority, "wire.MaxInvite": wire.MaxInvite,
	"wire.NonceLen": wire.NonceLen, "wire.MaxChannelsPerEntry": wire.MaxChannelsPerEntry,
	"wire.MaxChannelsPerHost": wire.MaxChannelsPerHost, "wire.MaxBindings": wire.MaxBindings, "wire.SlotLen": wire.SlotLen,
	"wire.LoginTimeout": int(wire.LoginTimeout / time.Second), "wire.PairTimeout": int(wire.PairTimeout / time.Second),
	"wire.DeadPeerTimeout": int(wire.DeadPeerTimeout / time.Second),
	"wire.MaxClaimAge":     int(wire.MaxClaimAge / time.Second), "wire.MaxClaimAhead": int(wire.MaxClaimAhead / time.Second),
	"ident.IDLen": ident.IDLen, "ident.KeyLen": ident.KeyLen,
	"pair.SecretLen": pair.SecretLen, "pair.NonceLen": pair.NonceLen, "pair.TagLen": pair.TagLen,
	"seal.HandshakeLen": seal.HandshakeLen, "seal.MaxRecord": seal.MaxRecord, "seal.MaxMessage": seal.MaxMessage,
	"seal.Window": seal.Window, "seal.AckEvery": seal.AckEvery,
	"api.MaxPrompt": api.MaxPrompt, "api.MaxPath": api.MaxPath, "api.MaxName": api.MaxName,
	"api.MaxClientKey": api.MaxClientKey, "api.MaxFeedback": api.MaxFeedback, "api.MaxAnswer": api.MaxAnswer, "api.MaxChoices": api.MaxChoices, "api.MaxApprovalChoices": api.MaxApprovalChoices, "api.MaxRules": api.MaxRules, "api.MaxQueue": api.MaxQueue, "api.RingBytes": api.RingBytes,
	"api.MaxMeta": api.MaxMeta, "api.MaxMetaKey": api.MaxMetaKey, "api.MaxMetaValue": api.MaxMetaValue,
	"api.MaxImages": api.MaxImages, "api.MaxImageBytes": api.MaxImageBytes, "api.MaxImagesBytes": api.MaxImagesBytes,
	"api.MaxImagePixels": api.MaxImagePixels, "api.MaxBlobChunk": api.MaxBlobChunk, "api.MaxQueueImages": api.MaxQueueImages,
	"api.MaxFiles": api.MaxFiles, "api.MaxFileBytes": api.MaxFileBytes, "api.MaxFilesBytes": api.MaxFilesBytes, "api.MaxFilesOfSession": api.MaxFilesOfSession,
	"api.MaxBlobsOfClient": api.MaxBlobsOfClient, "api.MaxBlobs": api.MaxBlobs,
	"api.MaxQueueBytes": api.MaxQueueBytes, "api.WindowEntries": api.WindowEntries, "api.WindowBytes": api.WindowBytes,
	"api.MaxEntryBytes": api.MaxEntryBytes, "api.MaxToolTail": api.MaxToolTail,
	"api.MaxQuery": api.MaxQuery, "api.MaxHits": api.MaxHits, "api.MaxSessionHits": api.MaxSessionHits,
	"api.MaxLabel": api.MaxLabel, "api.MaxFocus": api.MaxFocus, "api.MaxKey": api.MaxKey, "api.MaxTreeNodes": api.MaxTreeNodes,
	"api.MaxProofApprovals": api.MaxProofApprovals, "api.MaxProofProblems": api.MaxProofProblems,
	"api.MaxTerminals": api.MaxTerminals, "api.MaxAllTerminals": api.MaxAllTerminals, "api.TerminalBytes": api.TerminalBytes,
	"api.TerminalWindow": api.TerminalWindow, "api.MaxTerminalChunk": api.MaxTerminalChunk,
	"api.MaxTerminalInput": api.MaxTerminalInput, "api.MaxTerminalSide": api.MaxTerminalSide,
	"api.MaxFileEntries": api.MaxFileEntries, "api.MaxFound": api.MaxFound, "api.MaxFilePart": api.MaxFilePart, "api.MaxFileDiff": api.MaxFileDiff, "api.MaxCommits": api.MaxCommits,
	"api.MaxBranches": api.MaxBranches, "api.MaxCommitPaths": api.MaxCommitPaths, "api.MaxMessage": api.MaxMessage,
	"api.MaxGuests": api.MaxGuests, "api.MaxGuestTime": int(api.MaxGuestTime / time.Second), "api.MaxSessions": api.MaxSessions, "api.MaxKeptRules": api.MaxKeptRules,
	"api.MaxMoveItems": api.MaxMoveItems, "api.MaxMoveItem": api.MaxMoveItem, "api.MaxMoveLog": api.MaxMoveLog, "api.MaxMoveTree": api.MaxMoveTree, "api.MaxMoveBytes": api.MaxMoveBytes, "api.MaxMovePart": api.MaxMovePart,
	"api.MaxMoveSkipped": api.MaxMoveSkipped, "api.MaxProofMoves": api.MaxProofMoves, "api.MaxTranscripts": api.MaxTranscripts,
}

func TestDocsNameEveryNumber(t *testing.T) {
	text := protocolText(t)
	for name, value := range numbers {
		line, ok := row(text, name)
		if !ok || !strings.Contains(line, fmt.Sprintf("| %d |", value)) {
			t.Errorf("docs/protocol.md: no line says that %s is %d", name, value)
		}
	}
}

// TestEveryNumberIsListed finds the exported constants without a type of their
// own, which are the numbers, in the sources.
func TestEveryNumberIsListed(t *testing.T) {
	for _, folder := range []string{"ident", "wire", "pair", "seal", "api"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range numericConstants(file) {
				if _, ok := numbers[folder+"."+name]; !ok {
					t.Errorf("%s: the constant %s is not listed, so its text is not checked", path, name)
				}
			}
		}
	}
}

func numericConstants(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type != nil || len(value.Values) != 1 || isText(value.Values[0]) {
				continue
			}
			if name := value.Names[0]; name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func isText(expr ast.Expr) bool {
	literal, ok := expr.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}
