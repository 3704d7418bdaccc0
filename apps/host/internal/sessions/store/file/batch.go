package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// batch announces an append of several lines in a separate file before its first byte is
// written. If the session file ends inside the announced batch, or its end differs from it, the
// batch was not acknowledged and is removed. If the file continues after the batch, the batch
// was acknowledged and the announcement is obsolete.
type batch struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// announce writes an announcement to disk.
func (l *Log) announce(offset int64, data []byte) error {
	record, err := json.Marshal(batch{offset, int64(len(data)), digestOf(data)})
	if err != nil {
		return err
	}
	l.unsettled = true
	f, err := os.OpenFile(l.path+endingBatch, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	disk := l.provider.disk
	if err = disk.writeAt(f, append(record, '\n'), 0); err == nil {
		err = disk.sync(f)
	}
	return errors.Join(err, f.Close(), disk.syncDir(filepath.Dir(l.path)))
}

// unannounce removes the announcement of a batch that is completely on disk. After a crash it
// may reappear, which does no harm.
func (l *Log) unannounce() {
	l.unsettled = removeIfThere(l.path+endingBatch) != nil
}

// settle removes what a failed append left, and then durably removes its announcement, which
// must not exist once other lines are where the batch began.
func (l *Log) settle() error {
	if err := l.provider.disk.truncate(l.file, l.size.Load()); err != nil {
		return err
	}
	if err := removeIfThere(l.path + endingBatch); err != nil {
		return err
	}
	if err := l.provider.disk.syncDir(filepath.Dir(l.path)); err != nil {
		return err
	}
	l.unsettled = false
	return nil
}

// cutUnfinished returns the data of a session file without an unfinished batch.
func cutUnfinished(path string, data []byte) []byte {
	record, err := os.ReadFile(path + endingBatch)
	if err != nil {
		return data
	}
	var b batch
	// An announcement that cannot be parsed is incomplete: the batch never began.
	if json.Unmarshal(bytes.TrimSpace(record), &b) != nil || b.Offset < 0 || b.Bytes < 0 {
		return data
	}
	size := int64(len(data))
	if size < b.Offset || size > b.Offset+b.Bytes || size == b.Offset+b.Bytes && digestOf(data[b.Offset:]) == b.SHA256 {
		return data
	}
	return data[:b.Offset]
}
