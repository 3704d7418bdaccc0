package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// geminiRecord is a chat of Gemini CLI: the whole of a session-*.json, and each line of a
// session-*.jsonl (tmp/<project>/chats).
type geminiRecord struct {
	SessionID   string            `json:"sessionId"`
	ProjectHash string            `json:"projectHash"`
	StartTime   string            `json:"startTime"`
	LastUpdated string            `json:"lastUpdated"`
	Summary     string            `json:"summary"`
	Kind        string            `json:"kind"`
	Directories []string          `json:"directories"`
	Messages    []json.RawMessage `json:"messages"`

	ID     string          `json:"id"`        // a message
	Set    json.RawMessage `json:"$set"`      // changes of the chat
	Rewind string          `json:"$rewindTo"` // removes this message and all after it
}

// geminiChat is the state of a chat after all of its lines.
type geminiChat struct {
	geminiRecord
	order []string
	byID  map[string]json.RawMessage
}

const geminiFolder = "tmp"

func isGeminiChat(path string) bool {
	name := filepath.Base(path)
	folder := filepath.Base(filepath.Dir(path))
	return strings.HasPrefix(name, "session-") && folder == "chats" && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl"))
}

// geminiPaths returns the chats of all projects. A chat in the older format that was continued in
// the newer one counts once.
func geminiPaths(ctx context.Context, root *os.Root) ([]string, error) {
	paths, err := newest(ctx, root, ".", 2, isGeminiChat)
	lines := map[string]bool{}
	for _, path := range paths {
		lines[path] = true
	}
	kept := paths[:0]
	for _, path := range paths {
		if !strings.HasSuffix(path, ".json") || !lines[path+"l"] {
			kept = append(kept, path)
		}
	}
	return kept, err
}

func (r *Reader) listGemini(ctx context.Context) (list []Info, damaged int, err error) {
	root, err := r.openRoot(Gemini, geminiFolder)
	if root == nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }() // only read
	paths, err := geminiPaths(ctx, root)
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for _, path := range paths {
		t, err := r.geminiChat(ctx, root, path, maxListed)
		switch {
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case err != nil:
			damaged++
		case t.Parent == "" && t.Title != "" && !seen[t.ID]: // without a prompt there is nothing to import
			seen[t.ID], list = true, append(list, t.Info)
		}
	}
	return list, damaged, nil
}

// maxListed bounds what is read of a chat to list it.
const maxListed = 32 << 20

func (r *Reader) readGemini(ctx context.Context, id string) (Transcript, error) {
	root, err := r.openRoot(Gemini, geminiFolder)
	if err != nil || root == nil {
		return Transcript{}, errors.Join(err, ErrNotFound)
	}
	defer func() { _ = root.Close() }() // only read
	paths, err := geminiPaths(ctx, root)
	if err != nil {
		return Transcript{}, err
	}
	for _, path := range paths {
		// A name has the beginning of the id.
		if short := strings.TrimSuffix(strings.TrimSuffix(path, "l"), ".json"); !strings.HasSuffix(short, "-"+id[:min(8, len(id))]) {
			continue
		}
		t, err := r.geminiChat(ctx, root, path, maxTranscript)
		if err == nil && t.ID == id {
			return t, r.geminiChildren(ctx, root, filepath.Join(filepath.Dir(path), id), &t)
		}
		if errors.Is(err, ErrTooLarge) || ctx.Err() != nil {
			return Transcript{}, err
		}
	}
	return Transcript{}, ErrNotFound
}

// geminiChildren adds the chats of a chat's subagents, which are in a folder with its id.
func (r *Reader) geminiChildren(ctx context.Context, root *os.Root, folder string, t *Transcript) error {
	isChild := func(path string) bool { return strings.HasSuffix(path, ".jsonl") }
	paths, err := newest(ctx, root, folder, 0, isChild)
	if err != nil {
		return err
	}
	for _, path := range paths[:min(len(paths), maxChildren)] {
		child, err := r.geminiChat(ctx, root, path, maxTranscript)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.Report.Damaged++
		case len(child.Items) > 0:
			child.Parent, child.Folder = t.ID, first(child.Folder, t.Folder)
			t.Children = append(t.Children, child)
		}
	}
	return nil
}

// geminiChat reads and converts a chat.
func (r *Reader) geminiChat(ctx context.Context, root *os.Root, path string, limit int64) (Transcript, error) {
	c := newGemini()
	chat := geminiChat{byID: map[string]json.RawMessage{}}
	read := c.readLines
	if strings.HasSuffix(path, ".json") {
		read = c.readWhole
	}
	if err := read(ctx, root, path, limit, &chat); err != nil {
		return Transcript{}, err
	}
	if !validID(chat.SessionID) {
		return Transcript{}, ErrUnreadable
	}
	for _, id := range chat.order {
		if err := c.message(chat.byID[id]); err != nil {
			return Transcript{}, err
		}
	}
	c.info.ID, c.info.Created = chat.SessionID, parseTime(chat.StartTime)
	if at := parseTime(chat.LastUpdated); !at.IsZero() {
		c.info.Updated = at
	}
	if title := titleOf(chat.Summary); title != "" {
		c.info.Title, c.info.Named = title, true
	}
	if chat.Kind == "subagent" {
		c.info.Parent = "gemini"
	}
	c.info.Folder = r.geminiProject(root, path, &chat)
	return Transcript{Info: c.info, Items: c.items, Report: c.report}, nil
}

// geminiProject returns the folder in which a chat took place: the one that Gemini CLI noted, or a
// known one with the hash of the chat.
func (r *Reader) geminiProject(root *os.Root, path string, chat *geminiChat) string {
	project, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	if f, _, err := openFile(root, filepath.Join(project, ".project_root")); err == nil {
		folder, readErr := io.ReadAll(io.LimitReader(f, 4096))
		if err := errors.Join(readErr, f.Close()); err == nil && filepath.IsAbs(strings.TrimSpace(string(folder))) {
			return strings.TrimSpace(string(folder))
		}
	}
	if r.folders != nil {
		for _, folder := range r.folders() {
			if sum := sha(folder); sum == chat.ProjectHash || sum == project {
				return folder
			}
		}
	}
	return first(chat.Directories...)
}

// readLines reads a chat as lines, which change it one after the other.
func (c *gemini) readLines(ctx context.Context, root *os.Root, path string, limit int64, chat *geminiChat) error {
	lines, stat, err := openLines(ctx, root, path, limit)
	if err != nil {
		return err
	}
	c.info.Updated, c.info.Bytes = stat.ModTime(), stat.Size()
	for err == nil {
		var line []byte
		if line, err = lines.next(); err == nil && !chat.apply(line) {
			c.report.Damaged++
		}
	}
	c.report.Damaged += lines.damaged
	if lines.torn {
		c.report.Unfinished++
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, lines.close())
}

// readWhole reads a chat that is one JSON object.
func (c *gemini) readWhole(ctx context.Context, root *os.Root, path string, limit int64, chat *geminiChat) error {
	f, stat, err := openFile(root, path)
	if err != nil {
		return err
	}
	c.info.Updated, c.info.Bytes = stat.ModTime(), stat.Size()
	if stat.Size() > min(limit, maxContent) {
		return errors.Join(ErrTooLarge, f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxContent))
	if err = errors.Join(err, f.Close(), ctx.Err()); err != nil {
		return err
	}
	if !isObject(data) || !chat.apply(data) {
		return ErrUnreadable
	}
	return nil
}

// apply changes the chat as a line says; false means that the line could not be read.
func (chat *geminiChat) apply(line []byte) bool {
	var record geminiRecord
	if exactjson.Unmarshal(line, &record) != nil {
		return false
	}
	switch {
	case record.Rewind != "":
		chat.rewind(record.Rewind)
	case record.ID != "":
		chat.put(record.ID, line)
	case len(record.Set) > 0:
		var set geminiRecord
		if exactjson.Unmarshal(record.Set, &set) != nil {
			return false
		}
		chat.set(&set)
	case record.SessionID != "":
		chat.set(&record)
	default:
		return false
	}
	return true
}

func (chat *geminiChat) put(id string, message json.RawMessage) {
	if _, known := chat.byID[id]; !known {
		chat.order = append(chat.order, id)
	}
	chat.byID[id] = message
}

func (chat *geminiChat) set(r *geminiRecord) {
	chat.SessionID, chat.ProjectHash = first(r.SessionID, chat.SessionID), first(r.ProjectHash, chat.ProjectHash)
	chat.StartTime, chat.LastUpdated = first(chat.StartTime, r.StartTime), first(r.LastUpdated, chat.LastUpdated)
	chat.Summary, chat.Kind = first(r.Summary, chat.Summary), first(r.Kind, chat.Kind)
	if len(r.Directories) > 0 {
		chat.Directories = r.Directories
	}
	if r.Messages == nil {
		return
	}
	chat.order, chat.byID = nil, map[string]json.RawMessage{}
	for _, message := range r.Messages {
		var m geminiRecord
		if exactjson.Unmarshal(message, &m) == nil && m.ID != "" {
			chat.put(m.ID, message)
		} else {
			chat.put("?"+hash(string(message)), message)
		}
	}
}

// rewind removes a message and all after it, or all if it is unknown.
func (chat *geminiChat) rewind(id string) {
	at := 0
	for i, known := range chat.order {
		if known == id {
			at = i
		}
	}
	for _, gone := range chat.order[at:] {
		delete(chat.byID, gone)
	}
	chat.order = chat.order[:at]
}
