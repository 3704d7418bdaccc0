package transcripts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

const openCodeDB = "opencode.db"

// openCodeTables reads the database of opencode. It never writes: without a journal beside it the
// file is opened as one that does not change, and otherwise as a reader beside opencode.
type openCodeTables struct{ db *sql.DB }

// openCodeDatabase opens the database in a folder; nil without an error means that there is none.
func openCodeDatabase(ctx context.Context, root *os.Root, folder string) (openCodeStore, error) {
	f, _, err := openFile(root, openCodeDB)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)", "busy_timeout(2000)"}}
	if info, err := root.Lstat(openCodeDB + "-wal"); err != nil || info.Size() == 0 {
		query.Set("immutable", "1")
	}
	path := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.Join(folder, openCodeDB)}).EscapedPath(), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", path.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var tables int
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part')`).Scan(&tables)
	if err == nil && tables < 3 {
		return nil, db.Close() // a version that keeps sessions in files
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s cannot be read: %w", ErrUnreadable, openCodeDB, err), db.Close())
	}
	return &openCodeTables{db}, nil
}

func (t *openCodeTables) close() error { return t.db.Close() }

func (t *openCodeTables) sessions(ctx context.Context) (list []openCodeSession, damaged int, err error) {
	rows, err := t.db.QueryContext(ctx, `SELECT id, coalesce(parent_id, ''), directory, title, version, time_created, time_updated
		FROM session ORDER BY time_updated DESC LIMIT ?`, 4*maxFiles)
	if err != nil {
		return nil, 0, err
	}
	for rows.Next() {
		var s openCodeSession
		if rows.Scan(&s.ID, &s.ParentID, &s.Directory, &s.Title, &s.Version, &s.Time.Created, &s.Time.Updated) != nil || !validID(s.ID) {
			damaged++
			continue
		}
		list = append(list, s)
	}
	return list, damaged, errors.Join(rows.Err(), rows.Close())
}

func (t *openCodeTables) messages(ctx context.Context, id string, fn func(openCodeRecord, []openCodeRecord) error) (damaged int, err error) {
	var size int64
	err = t.db.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(length(data)), 0) FROM message WHERE session_id = ?1)
		+ (SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = ?1)`, id).Scan(&size)
	if err == nil && size > maxContent {
		err = ErrTooLarge
	}
	if err != nil {
		return 0, err
	}
	read := func(query string, args ...any) (records []openCodeRecord, err error) {
		rows, err := t.db.QueryContext(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var record openCodeRecord
			var data []byte
			if rows.Scan(&record.id, &data) != nil || len(data) > maxLine || !isObject(data) {
				damaged++
				continue
			}
			record.data = data
			records = append(records, record)
		}
		return records, errors.Join(rows.Err(), rows.Close())
	}
	messages, err := read(`SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id`, id)
	for _, message := range messages {
		var parts []openCodeRecord
		if err == nil {
			parts, err = read(`SELECT id, data FROM part WHERE message_id = ? ORDER BY id`, message.id)
		}
		if err == nil {
			err = fn(message, parts)
		}
	}
	return damaged, err
}

// openCodeFiles reads sessions that are files: session/<project>/<id>.json, message/<session> and
// part/<message>.
type openCodeFiles struct{ root *os.Root }

func (s *openCodeFiles) close() error { return s.root.Close() }

func (s *openCodeFiles) sessions(ctx context.Context) (list []openCodeSession, damaged int, err error) {
	paths, err := newest(ctx, s.root, "session", 1, isJSONFile)
	for _, path := range paths {
		var session openCodeSession
		data, readErr := s.read(path)
		if readErr != nil || exactjson.Unmarshal(data, &session) != nil || !validID(session.ID) {
			damaged++
			continue
		}
		list = append(list, session)
	}
	return list, damaged, err
}

func isJSONFile(path string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), ".json")
	return ok && validID(name)
}

func (s *openCodeFiles) messages(ctx context.Context, id string, fn func(openCodeRecord, []openCodeRecord) error) (damaged int, err error) {
	left := int64(maxContent)
	read := func(folder string) (records []openCodeRecord, err error) {
		var paths []string
		err = files(ctx, s.root, folder, 0, isJSONFile, func(path string) { paths = append(paths, path) })
		slices.Sort(paths) // ids ascend with time
		for _, path := range paths {
			data, readErr := s.read(path)
			if left -= int64(len(data)); left < 0 {
				return nil, ErrTooLarge
			}
			if readErr != nil || !isObject(data) {
				damaged++
				continue
			}
			records = append(records, openCodeRecord{strings.TrimSuffix(filepath.Base(path), ".json"), data})
		}
		return records, err
	}
	messages, err := read(filepath.Join("message", id))
	for _, message := range messages {
		var parts []openCodeRecord
		if err == nil {
			parts, err = read(filepath.Join("part", message.id))
		}
		if err == nil {
			err = fn(message, parts)
		}
	}
	return damaged, err
}

func (s *openCodeFiles) read(path string) ([]byte, error) {
	f, info, err := openFile(s.root, path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxLine {
		return nil, errors.Join(ErrTooLarge, f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLine))
	return data, errors.Join(err, f.Close())
}
