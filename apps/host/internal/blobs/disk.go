package blobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var errWrongHash = errors.New("blobs: the content does not match the hash in its name")

// readImage reads and checks an image. Its content decides what it is, so a file that
// changed on disk is not used.
func readImage(path, hash string) (session.Block, error) {
	data, err := readVerified(path, hash, api.MaxImageBytes)
	if err != nil {
		return session.Block{}, err
	}
	return picture.Check(data)
}

// readVerified reads at most limit bytes whose hash is that of the name.
func readVerified(path, hash string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, errWrongHash
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, errWrongHash
	}
	return data, nil
}

func partSize(path string) (int, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("blobs: " + path + " is not a file")
	}
	return int(info.Size()), nil
}

func appendTo(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// syncAndRename gives a file its final name once its content is on disk.
func syncAndRename(from, to string) error {
	file, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(from, to)
}

type blobFile struct {
	path    string
	size    int64
	changed time.Time
}

// files lists all uploads, complete or not.
func (s *Store) files() ([]blobFile, error) {
	folders, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []blobFile
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder.Name()))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil { // removed in the meantime
				continue
			}
			files = append(files, blobFile{filepath.Join(s.dir, folder.Name(), entry.Name()), info.Size(), info.ModTime()})
		}
	}
	return files, nil
}
