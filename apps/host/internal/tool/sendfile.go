package tool

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

//go:embed sendfile.md
var sendFileDoc string

// maxSent bounds a file that is sent to a chat, in bytes.
const maxSent = 20 << 20

// sendFile has the chats that follow the session send a file: they read the result of the call in
// the log, which names the file and its hash.
type sendFile struct{ *Set }

type sendFileArgs struct {
	Path string `json:"path"`
}

func (sendFile) Spec() agent.ToolSpec {
	return spec(session.ToolSendFile, sendFileDoc, `{
		"path": {"type": "string", "description": "File to send, absolute or relative to the working folder."}}`, "path")
}

func (sendFile) Risk() agent.Risk { return agent.RiskWrite }

func (t sendFile) Describe(call agent.Call) agent.Description {
	var args sendFileArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Description{Title: "Send a file to the chat (the arguments are wrong)", Detail: string(call.Arguments)}
	}
	return agent.Description{Title: "Send " + args.Path + " to the chat", Detail: args.Path + "\nThe chat's platform and everyone in the chat can read the file."}
}

func (t sendFile) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args sendFileArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("send_file: %v.", err)
	}
	full, err := resolvePath(call, args.Path, t.private)
	if err != nil {
		return agent.Failure("send_file: %v.", err)
	}
	rel, err := filepath.Rel(resolved(call.Cwd), resolved(full))
	if err != nil || !filepath.IsLocal(rel) {
		return agent.Failure("send_file: %s is outside the working folder, and only files in it can be sent.", args.Path)
	}
	file, err := t.private.openRegular(full)
	if err != nil {
		return agent.Failure("send_file: %s", t.pathError(call, args.Path, full, err))
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, maxSent+1))
	switch {
	case ctx.Err() != nil:
		return agent.Cancelled(0, "")
	case err != nil:
		return agent.Failure("send_file: %s", t.pathError(call, args.Path, full, err))
	case n > maxSent:
		return agent.Failure("send_file: %s is larger than %d MB, which is the limit.", args.Path, maxSent>>20)
	case n == 0:
		return agent.Failure("send_file: %s is empty.", args.Path)
	}
	result := agent.Success(fmt.Sprintf("%s (%d bytes) is being sent to the chat.", args.Path, n))
	result.Details = details(session.SentFile{Path: filepath.ToSlash(rel), SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: n})
	return result
}
