package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// codexLine is a line of a Codex rollout (sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl).
type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// codexMeta is the payload of session_meta; in versions before 0.30 it is the first line itself.
type codexMeta struct {
	ID         string          `json:"id"`
	Timestamp  string          `json:"timestamp"`
	Cwd        string          `json:"cwd"`
	CLIVersion string          `json:"cli_version"`
	Provider   string          `json:"model_provider"`
	Source     json.RawMessage `json:"source"`
}

// parent returns the id of the conversation whose subagent this one is, or "".
func (m *codexMeta) parent() string {
	var source struct {
		Subagent struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	if len(m.Source) == 0 || exactjson.Unmarshal(m.Source, &source) != nil {
		return ""
	}
	return source.Subagent.Spawn.Parent
}

// helper reports whether a program of Codex wrote the conversation, not a person.
func (m *codexMeta) helper() bool { return strings.Contains(string(m.Source), `"subagent"`) }

var codexName = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-zA-Z-]+)\.jsonl(\.zst)?$`)

func codexID(path string) string {
	if m := codexName.FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1]
	}
	return ""
}

// codexFolders are the folders of rollouts in CODEX_HOME; those that were archived are in the
// second one.
var codexFolders = []string{"sessions", "archived_sessions"}

// eachCodexRoot calls fn with the folders of rollouts that exist.
func (r *Reader) eachCodexRoot(fn func(*os.Root) error) error {
	for _, folder := range codexFolders {
		root, err := r.openRoot(Codex, folder)
		if err != nil {
			return err
		}
		if root != nil {
			if err := errors.Join(fn(root), root.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// codexPaths returns the rollouts of a folder, newest first. Of a rollout that exists plain and
// compressed, only the plain file counts.
func codexPaths(ctx context.Context, root *os.Root) ([]string, error) {
	paths, err := newest(ctx, root, ".", 3, func(path string) bool { return codexID(path) != "" })
	plain := map[string]bool{}
	for _, path := range paths {
		plain[path] = true
	}
	kept := paths[:0]
	for _, path := range paths {
		if name, zst := strings.CutSuffix(path, ".zst"); !zst || !plain[name] {
			kept = append(kept, path)
		}
	}
	return kept, err
}

func (r *Reader) listCodex(ctx context.Context) (list []Info, damaged int, err error) {
	names, err := r.codexNames(ctx)
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	err = r.eachCodexRoot(func(root *os.Root) error {
		paths, err := codexPaths(ctx, root)
		if err != nil {
			return err
		}
		for _, path := range paths {
			id := codexID(path)
			info, known, err := codexHead(ctx, root, path)
			switch {
			case err != nil:
				return err
			case !known:
				damaged++
			case info.Parent == "" && info.Title != "" && !seen[id]:
				if name := names[id]; name != "" {
					info.Title, info.Named = name, true
				}
				seen[id], list = true, append(list, info)
			}
		}
		return nil
	})
	return list, damaged, err
}

// codexHead describes a rollout by its beginning; known is false if it is none.
func codexHead(ctx context.Context, root *os.Root, path string) (info Info, known bool, err error) {
	info = Info{Source: Codex, ID: codexID(path)}
	c := newCodex(info.ID)
	err = heads(ctx, root, path, &info, func(line []byte) bool {
		if c.line(line) != nil {
			return false
		}
		return c.info.Title == "" || c.info.Folder == ""
	})
	c.info.Updated, c.info.Bytes = info.Updated, info.Bytes
	return c.info, c.meta, err
}

const codexIndex = "session_index.jsonl"

// codexNames returns the names that people gave to conversations. The index is a file in
// CODEX_HOME, beside files that are not read.
func (r *Reader) codexNames(ctx context.Context) (map[string]string, error) {
	names := map[string]string{}
	root, err := r.openRoot(Codex, ".")
	if root == nil {
		return names, err
	}
	defer func() { _ = root.Close() }() // only read
	var info Info
	var report Report
	err = eachLine(ctx, root, codexIndex, &info, &report, func(line []byte) error {
		var entry struct {
			ID   string `json:"id"`
			Name string `json:"thread_name"`
		}
		if exactjson.Unmarshal(line, &entry) == nil && entry.ID != "" && len(names) < 2*maxFiles {
			names[entry.ID] = titleOf(entry.Name)
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotFound) {
		err = nil
	}
	return names, err
}

func (r *Reader) readCodex(ctx context.Context, id string) (t Transcript, _ error) {
	names, err := r.codexNames(ctx)
	if err != nil {
		return t, err
	}
	found := false
	err = r.eachCodexRoot(func(root *os.Root) error {
		paths, err := codexPaths(ctx, root)
		if err != nil || found {
			return err
		}
		for _, path := range paths {
			if codexID(path) == id && !found {
				found = true
				t, err = readRollout(ctx, root, path)
				break
			}
		}
		return err
	})
	switch {
	case err != nil:
		return t, err
	case !found:
		return t, ErrNotFound
	}
	if name := names[id]; name != "" {
		t.Title, t.Named = name, true
	}
	return t, r.codexChildren(ctx, &t)
}

func readRollout(ctx context.Context, root *os.Root, path string) (Transcript, error) {
	c := newCodex(codexID(path))
	if err := eachLine(ctx, root, path, &c.info, &c.report, c.line); err != nil {
		return Transcript{}, err
	}
	if err := c.flush(); err != nil {
		return Transcript{}, err
	}
	if !c.meta {
		return Transcript{}, ErrUnreadable
	}
	return Transcript{Info: c.info, Items: c.items, Report: c.report}, nil
}

// codexChildren adds the conversations of a conversation's subagents.
func (r *Reader) codexChildren(ctx context.Context, t *Transcript) error {
	return r.eachCodexRoot(func(root *os.Root) error {
		paths, err := codexPaths(ctx, root)
		if err != nil {
			return err
		}
		for _, path := range paths {
			info, known, err := codexHead(ctx, root, path)
			if err != nil {
				return err
			}
			if !known || info.Parent != t.ID || info.ID == t.ID || len(t.Children) == maxChildren {
				continue
			}
			child, err := readRollout(ctx, root, path)
			if err != nil {
				return err
			}
			t.Children = append(t.Children, child)
		}
		return nil
	})
}
