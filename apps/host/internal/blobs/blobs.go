// Package blobs stores the images and files that clients upload until a prompt uses them. Each client
// has its own folder, so that one client cannot name, fill up or remove the uploads of
// another. A file is named by the SHA-256 of its content. The name of an incomplete upload
// ends with ".part", so that it can resume after a lost connection or a crash.
//
// Nothing here is the only copy of a prompt's content: a sent image is in the log of its
// session, and a sent file is in the session's folder. Uploads that no prompt uses are removed
// after a day.
package blobs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// keep is how long an upload is kept that is neither continued nor used.
const keep = 24 * time.Hour

// maxFiles bounds the uploads of one client.
const maxFiles = 256

// Store stores uploads in a folder. Its methods are safe for concurrent use.
type Store struct {
	dir string
	now func() time.Time

	mu sync.Mutex // guards the folder's content
}

// New returns the store of a folder, which is created by the first upload.
func New(dir string) *Store { return &Store{dir: dir, now: time.Now} }

// Upload stores a part of an image or file. A part that is already stored changes nothing, and one
// that starts after the stored data is not accepted: the response says where to continue.
// The error is an *api.Error or an I/O error.
func (s *Store) Upload(clientID string, r api.UploadBlobRequest) (api.UploadBlobResponse, error) {
	data, err := checkUpload(r)
	if err != nil {
		return api.UploadBlobResponse{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path, finish := s.path(clientID, r.SHA256), asImage
	if r.File {
		path, finish = path+fileSuffix, asFile
	}
	if response, err := finish(path, r.SHA256); err == nil {
		return response, nil
	}
	received, err := partSize(path + partSuffix)
	if err != nil {
		return api.UploadBlobResponse{}, err
	}
	if received > r.Size { // left by another upload that claimed this hash
		return api.UploadBlobResponse{}, s.discard(path+partSuffix, "the upload has more bytes than its size: start again at offset 0")
	}
	fresh := received - r.Offset
	if fresh < 0 || fresh >= len(data) && received < r.Size {
		return api.UploadBlobResponse{Received: received}, nil
	}
	if err := s.room(clientID, r.Size-received); err != nil {
		return api.UploadBlobResponse{}, err
	}
	if fresh < len(data) {
		if err := appendTo(path+partSuffix, data[fresh:]); err != nil {
			return api.UploadBlobResponse{}, fmt.Errorf("blobs: storing an upload: %w", err)
		}
		received += len(data) - fresh
	}
	if received < r.Size {
		return api.UploadBlobResponse{Received: received}, nil
	}
	return s.complete(path, r.SHA256, finish)
}

// partSuffix ends the name of an incomplete upload, fileSuffix that of a file.
const (
	partSuffix = ".part"
	fileSuffix = ".file"
)

func checkUpload(r api.UploadBlobRequest) ([]byte, error) {
	what, limit := "image", api.MaxImageBytes
	if r.File {
		what, limit = "file", api.MaxFileBytes
	}
	switch {
	case !isHash(r.SHA256):
		return nil, api.Errorf(api.KindBadRequest, "sha256 must have 64 lower-case hexadecimal digits")
	case r.Size <= 0:
		return nil, api.Errorf(api.KindBadRequest, "size must be the size of the whole %s, in bytes", what)
	case r.Size > limit:
		return nil, api.Errorf(api.KindTooLarge, "the %s has %d bytes, the limit is %d: make it smaller", what, r.Size, limit)
	case r.Offset < 0 || r.Offset > r.Size:
		return nil, api.Errorf(api.KindBadRequest, "offset must be between 0 and size")
	case len(r.Data) > base64.StdEncoding.EncodedLen(api.MaxBlobChunk):
		return nil, api.Errorf(api.KindTooLarge, "a part has at most %d bytes before base64", api.MaxBlobChunk)
	}
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		return nil, api.Errorf(api.KindBadRequest, "data is not base64")
	}
	if r.Offset+len(data) > r.Size {
		return nil, api.Errorf(api.KindBadRequest, "the part exceeds size")
	}
	return data, nil
}

func isHash(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// complete checks a complete upload and gives it its final name.
func (s *Store) complete(path, hash string, finish func(path, hash string) (api.UploadBlobResponse, error)) (api.UploadBlobResponse, error) {
	response, err := finish(path+partSuffix, hash)
	switch {
	case errors.Is(err, errWrongHash):
		return api.UploadBlobResponse{}, s.discard(path+partSuffix, "the data does not match its hash: send it again from offset 0")
	case errors.As(err, new(*picture.Error)):
		return api.UploadBlobResponse{}, errors.Join(picture.Refuse("the image", err), removed(os.Remove(path+partSuffix)))
	case err != nil:
		return api.UploadBlobResponse{}, fmt.Errorf("blobs: reading an upload: %w", err)
	}
	if err := syncAndRename(path+partSuffix, path); err != nil {
		return api.UploadBlobResponse{}, fmt.Errorf("blobs: storing an upload: %w", err)
	}
	return response, nil
}

// asImage and asFile check the content at a path, and describe it.
func asImage(path, hash string) (api.UploadBlobResponse, error) {
	image, err := readImage(path, hash)
	return api.UploadBlobResponse{Received: image.Size, Image: described(image)}, err
}

func asFile(path, hash string) (api.UploadBlobResponse, error) {
	data, err := readVerified(path, hash, api.MaxFileBytes)
	return api.UploadBlobResponse{Received: len(data), Complete: true}, err
}

// discard removes an upload that cannot become the image, and returns an error with the
// text.
func (s *Store) discard(path, text string) error {
	return errors.Join(api.Errorf(api.KindBadRequest, "%s", text), removed(os.Remove(path)))
}

func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Get returns an image that the client has uploaded, or false.
func (s *Store) Get(clientID, hash string) (session.Block, bool) {
	if !isHash(hash) {
		return session.Block{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	image, err := readImage(s.path(clientID, hash), hash)
	return image, err == nil
}

// File returns the content of a file that the client has uploaded. The error is fs.ErrNotExist
// if there is none.
func (s *Store) File(clientID, hash string) ([]byte, error) {
	if !isHash(hash) {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := readVerified(s.path(clientID, hash)+fileSuffix, hash, api.MaxFileBytes)
	if errors.Is(err, errWrongHash) {
		return nil, fs.ErrNotExist
	}
	return data, err
}

// Drop removes uploads of a client that a prompt has used: the session has them.
func (s *Store) Drop(clientID string, hashes ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, hash := range hashes {
		if isHash(hash) {
			path := s.path(clientID, hash)
			errs = append(errs, removed(os.Remove(path)), removed(os.Remove(path+fileSuffix)))
		}
	}
	return errors.Join(errs...)
}

// Collect removes uploads that were neither continued nor used for a day.
func (s *Store) Collect() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files, err := s.files()
	before := s.now().Add(-keep)
	errs := []error{err}
	for _, f := range files {
		if f.changed.Before(before) {
			errs = append(errs, removed(os.Remove(f.path)))
		}
	}
	return errors.Join(errs...)
}

// room refuses an upload that would exceed a quota.
func (s *Store) room(clientID string, more int) error {
	files, err := s.files()
	if err != nil {
		return fmt.Errorf("blobs: listing the uploads: %w", err)
	}
	own, all, count := int64(more), int64(more), 0
	folder := s.folder(clientID)
	for _, f := range files {
		all += f.size
		if filepath.Dir(f.path) == folder {
			own += f.size
			count++
		}
	}
	switch {
	case own > api.MaxBlobsOfClient || count >= maxFiles:
		return api.Errorf(api.KindTooLarge, "this client has too many unused uploads: send them with a prompt, or wait a day until they are removed")
	case all > api.MaxBlobs:
		return api.Errorf(api.KindUnavailable, "the host has too many unused uploads: try again later")
	}
	return nil
}

func (s *Store) folder(clientID string) string {
	name := sha256.Sum256([]byte(clientID))
	return filepath.Join(s.dir, hex.EncodeToString(name[:16]))
}

func (s *Store) path(clientID, hash string) string { return filepath.Join(s.folder(clientID), hash) }

func described(image session.Block) *session.Block {
	image.Data = ""
	return &image
}
