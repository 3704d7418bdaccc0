package tool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed readfile.md
var readFileDoc string

// Bounds of read_file.
const (
	maxLineChars = 2000    // per line, in characters
	sniffBytes   = 8 << 10 // bytes checked to distinguish text from binary
)

type readFile struct{ *Set }

type readFileArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

func (readFile) Spec() agent.ToolSpec {
	return spec("read_file", readFileDoc, `{
		"path": {"type": "string", "description": "File to read, absolute or relative to the working folder."},
		"offset": {"type": "integer", "minimum": 1, "description": "First line to show, 1 is the first of the file."},
		"limit": {"type": "integer", "minimum": 1, "description": "How many lines to show, at most 2000."}}`, "path")
}

func (readFile) Risk() agent.Risk { return agent.RiskRead }

func (readFile) Describe(call agent.Call) agent.Description { return describePath("Read", call) }

func (t readFile) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args readFileArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("read_file: %v.", err)
	}
	if args.Offset < 0 || args.Limit < 0 {
		return agent.Failure("read_file: offset and limit must be 1 or more.")
	}
	full, err := resolvePath(call, args.Path, t.private)
	if err != nil {
		return agent.Failure("read_file: %v.", err)
	}
	file, err := t.private.openRegular(full)
	if err != nil {
		return agent.Failure("read_file: %s", t.pathError(call, args.Path, full, err))
	}
	defer file.Close()
	if result, isImage := t.image(call, args.Path, full, file); isImage {
		return result
	}
	print := sha256.New()
	reader := bufio.NewReaderSize(io.TeeReader(file, print), sniffBytes)
	if err := refuseBinary(reader); err != nil {
		return agent.Failure("read_file: %s %v", args.Path, err)
	}
	text, err := numbered(ctx, reader, max(args.Offset, 1), min(max(args.Limit, 0), MaxLines))
	switch {
	case ctx.Err() != nil:
		return agent.Cancelled(0, "")
	case err != nil:
		return agent.Failure("read_file: reading %s: %v.", args.Path, err)
	}
	if info, err := file.Stat(); err == nil && info.Size() <= maxKnown {
		if _, err := io.Copy(io.Discard, reader); err == nil { // the hash covers the whole file, shown or not
			t.seen.note(resolved(full), fingerprint(print.Sum(nil)))
		}
	}
	t.near(call.Cwd, full)
	return agent.Success(text)
}

// Kinds of files that cannot be read as text.
var (
	errIsFolder   = errors.New("is a folder; use list_dir")
	errNotRegular = errors.New("is a device, pipe or socket, not a file")
)

func refuseBinary(reader *bufio.Reader) error {
	head, err := reader.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if looksBinary(head, errors.Is(err, io.EOF)) {
		return errors.New("is not UTF-8 text; if you need it, inspect it with bash (file, xxd, strings)")
	}
	return nil
}

// looksBinary examines the beginning of a file. whole reports that this is all of it;
// otherwise its last character may be incomplete.
func looksBinary(head []byte, whole bool) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	if !whole {
		for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
			if utf8.RuneStart(head[len(head)-i]) {
				head = head[:len(head)-i]
				break
			}
		}
	}
	return !utf8.Valid(head)
}

// numbered returns the lines from offset on, each after its number and a bar.
func numbered(ctx context.Context, reader *bufio.Reader, offset, limit int) (string, error) {
	if limit == 0 {
		limit = MaxLines
	}
	var out strings.Builder
	for number := 1; ; number++ {
		if number%1000 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		line, cut, err := readLine(reader, maxLineChars)
		switch {
		case errors.Is(err, io.EOF):
			return finish(&out, number-1, offset), nil
		case err != nil:
			return "", err
		case number < offset:
			continue
		}
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark is not text
		}
		if cut {
			line += " [line cut]"
		}
		row := fmt.Sprintf("%d|%s\n", number, line)
		if number >= offset+limit || out.Len()+len(row) > MaxBytes {
			fmt.Fprintf(&out, "[The file continues. Read more with offset=%d.]", number)
			return out.String(), nil
		}
		out.WriteString(row)
	}
}

// finish handles the end of a file with n lines.
func finish(out *strings.Builder, n, offset int) string {
	switch {
	case n == 0:
		return "(the file is empty)"
	case out.Len() == 0:
		return fmt.Sprintf("(the file has %d lines; line %d is past its end)", n, offset)
	}
	return out.String()
}

// readLine reads a line without its line ending and keeps at most limit characters. io.EOF
// means that there are no more lines.
func readLine(reader *bufio.Reader, limit int) (line string, cut bool, err error) {
	var kept []byte
	seen := 0
	for {
		piece, err := reader.ReadSlice('\n')
		seen += len(piece)
		if room := limit*utf8.UTFMax + 2 - len(kept); room > 0 {
			kept = append(kept, piece[:min(room, len(piece))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || seen == 0) {
			return "", false, err
		}
		break
	}
	cut = seen > len(kept)
	text := strings.ToValidUTF8(strings.TrimRight(string(kept), "\r\n"), "\uFFFD")
	if utf8.RuneCountInString(text) > limit {
		text, cut = string([]rune(text)[:limit]), true
	}
	return text, cut, nil
}
