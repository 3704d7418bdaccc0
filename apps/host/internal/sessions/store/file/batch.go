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

// batch announces an append of several lines, in a file beside, before its first
// byte is written. A file that ends inside of what was announced, or whose end is
// not what was announced, is cut back to where it began: nobody was told of it. A
// file that goes on behind it had it acknowledged, and the announcement is old.
type batch struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// announce puts a batch on disk.
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

// unannounce takes the announcement of a batch away that is on disk as a whole. A
// crash may bring it back, and then it says nothing wrong.
func (l *Log) unannounce() {
	l.unsettled = removeIfThere(l.path+endingBatch) != nil
}

// settle cuts off what a failed append left, and takes its announcement away for
// good: it must not be there when shorter lines stand where the batch began.
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

// cutUnfinished returns the data of a session's file without a batch that was not
// finished.
func cutUnfinished(path string, data []byte) []byte {
	record, err := os.ReadFile(path + endingBatch)
	if err != nil {
		return data
	}
	var b batch
	// One that does not read was cut off itself: then the batch never began.
	if json.Unmarshal(bytes.TrimSpace(record), &b) != nil || b.Offset < 0 || b.Bytes < 0 {
		return data
	}
	size := int64(len(data))
	if size < b.Offset || size > b.Offset+b.Bytes || size == b.Offset+b.Bytes && digestOf(data[b.Offset:]) == b.SHA256 {
		return data
	}
	return data[:b.Offset]
}
