// Package transcripts reads the conversations that other agents keep on this machine: Claude
// Code, Codex, Gemini CLI and opencode (docs/importing.md). It finds them and converts them to
// entries of a session.
//
// Nothing is written, and no file outside the folders of transcripts is opened: not the
// credentials beside them, and not what a link leads to. Files are read as a stream with bounds.
// A record that cannot be read is counted, and one of an unknown kind is kept as it is.
//
// The same transcript always becomes the same entries with the same ids: the id of an entry is
// a hash of its content and of the entries before it. So importing again finds what is new.
package transcripts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Source names the program that wrote a transcript.
type Source string

const (
	Claude   Source = "claude"
	Codex    Source = "codex"
	Gemini   Source = "gemini"
	OpenCode Source = "opencode"
)

// Bounds of what is read.
const (
	maxTranscript = 1 << 30   // bytes of one transcript, uncompressed
	maxContent    = 256 << 20 // bytes of the entries made of one transcript
	maxLine       = 64 << 20  // bytes of a record; a longer one counts as damaged
	maxHead       = 4 << 20   // bytes of a file that are read to list it
	maxFiles      = 20_000    // transcripts of one source that are listed, newest first
	maxChildren   = 500       // subagents of a transcript
)

var (
	// ErrNotFound means that there is no such transcript.
	ErrNotFound = errors.New("transcripts: no such transcript")
	// ErrTooLarge means that a transcript exceeds a bound.
	ErrTooLarge = errors.New("transcripts: the transcript is too large")
	// ErrUnreadable means that a transcript is not in a known format.
	ErrUnreadable = errors.New("transcripts: the transcript is in an unknown format")
)

// Info describes a transcript.
type Info struct {
	Source  Source
	ID      string // of the program
	Folder  string // working folder; "" is unknown
	Title   string // name or first prompt, one line
	Named   bool   // the title is a name that the program stores
	Version string // of the program; "" is unknown
	Created time.Time
	Updated time.Time
	Bytes   int64  // 0 is unknown
	Parent  string // id of the transcript whose subagent wrote this one
}

// Report counts records that became no ordinary entry.
type Report struct {
	Damaged    int // could not be read
	Unknown    int // of an unknown kind, kept as they are
	Omitted    int // bookkeeping of the program, which is not part of the conversation
	Unfinished int // still being written
}

// Transcript is a converted transcript.
type Transcript struct {
	Info
	Items    []Item
	Report   Report
	Children []Transcript // of subagents
}

// Reader finds and reads the transcripts of one user. It is safe for concurrent use.
type Reader struct {
	homes map[Source]string
	// folders returns folders that may have been worked in; Gemini CLI stores hashes of some.
	folders func() []string
}

// New returns a reader for the folders that the programs use: below home, or where the variables
// of the environment say.
func New(home string, env func(string) string, folders func() []string) *Reader {
	data := cmp.Or(env("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return &Reader{folders: folders, homes: map[Source]string{
		Claude:   cmp.Or(env("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")),
		Codex:    cmp.Or(env("CODEX_HOME"), filepath.Join(home, ".codex")),
		Gemini:   filepath.Join(cmp.Or(env("GEMINI_CLI_HOME"), home), ".gemini"),
		OpenCode: filepath.Join(data, "opencode"),
	}}
}

// Sources returns all sources in the order in which people see them.
func Sources() []Source { return []Source{Claude, Codex, Gemini, OpenCode} }

// List lists the transcripts of a source, newest first, without those of subagents. damaged
// counts files that are no transcripts although they are named like one.
func (r *Reader) List(ctx context.Context, source Source) (list []Info, damaged int, err error) {
	switch source {
	case Claude:
		list, damaged, err = r.listClaude(ctx)
	case Codex:
		list, damaged, err = r.listCodex(ctx)
	case Gemini:
		list, damaged, err = r.listGemini(ctx)
	case OpenCode:
		list, damaged, err = r.listOpenCode(ctx)
	default:
		return nil, 0, fmt.Errorf("%w: source %q", ErrNotFound, source)
	}
	slices.SortStableFunc(list, func(a, b Info) int { return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID)) })
	return list, damaged, err
}

// Read converts a transcript and those of its subagents.
func (r *Reader) Read(ctx context.Context, source Source, id string) (Transcript, error) {
	if !validID(id) {
		return Transcript{}, ErrNotFound
	}
	var t Transcript
	var err error
	switch source {
	case Claude:
		t, err = r.readClaude(ctx, id)
	case Codex:
		t, err = r.readCodex(ctx, id)
	case Gemini:
		t, err = r.readGemini(ctx, id)
	case OpenCode:
		t, err = r.readOpenCode(ctx, id)
	default:
		err = ErrNotFound
	}
	if err != nil {
		return Transcript{}, fmt.Errorf("reading the %s transcript %.80q: %w", source, id, err)
	}
	return t, nil
}

// SessionID returns the id of the session that a transcript becomes. Importing again finds it.
func SessionID(source Source, id string) string {
	return string(source) + "-" + hash("session", string(source), id)[:24]
}

// validID reports whether an id can be part of a file name.
func validID(id string) bool {
	return id != "" && len(id) <= 128 && id[0] != '.' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// openRoot opens a folder of transcripts; nil without an error means that there is none.
func (r *Reader) openRoot(source Source, folder string) (*os.Root, error) {
	root, err := os.OpenRoot(filepath.Join(r.homes[source], folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

// titleOf returns the first line of a prompt, shortened.
func titleOf(text string) string {
	return visible.Shorten(strings.Join(strings.Fields(text), " "), 120)
}

// parseTime parses a time in ISO 8601; the zero time if it is none.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// stopped maps the reason for which a model stopped.
func stopped(reason string, calls bool) session.StopReason {
	switch {
	case reason == "max_tokens" || reason == "length":
		return session.StopLength
	case calls:
		return session.StopToolUse
	}
	return session.StopEnd
}
