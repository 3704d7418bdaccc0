package blobs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// gif makes an image of about n bytes.
func gif(n int) []byte {
	return append(append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00"), make([]byte, n)...), ';')
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func part(data []byte, from, to int) api.UploadBlobRequest {
	return api.UploadBlobRequest{SHA256: hashOf(data), Size: len(data), Offset: from, Data: base64.StdEncoding.EncodeToString(data[from:to])}
}

func upload(t *testing.T, s *Store, client string, r api.UploadBlobRequest) api.UploadBlobResponse {
	t.Helper()
	response, err := s.Upload(client, r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// whole uploads an image part by part, starting where the host says.
func whole(s *Store, client string, data []byte) error {
	for at := 0; at < len(data); {
		r, err := s.Upload(client, part(data, at, min(at+api.MaxBlobChunk, len(data))))
		if err != nil {
			return err
		}
		at = r.Received
	}
	return nil
}

func TestUploadInParts(t *testing.T) {
	s, data := New(filepath.Join(t.TempDir(), "blobs")), gif(1000)
	for _, step := range []struct {
		name     string
		request  api.UploadBlobRequest
		received int
	}{
		{"how much is there", part(data, 0, 0), 0},
		{"a first part", part(data, 0, 100), 100},
		{"the same again", part(data, 0, 100), 100},
		{"a part that begins earlier", part(data, 50, 300), 300},
		{"a part with a gap before it", part(data, 500, 600), 300},
		{"how much is there now", part(data, 0, 0), 300},
		{"the rest", part(data, 300, len(data)), len(data)},
		{"the rest again", part(data, 300, len(data)), len(data)},
	} {
		r := upload(t, s, "cli_a", step.request)
		if r.Received != step.received || (r.Image != nil) != (step.received == len(data)) {
			t.Fatalf("%s: %+v, want %d", step.name, r, step.received)
		}
	}
	image, ok := s.Get("cli_a", hashOf(data))
	if !ok || image.MimeType != "image/gif" || image.Size != len(data) {
		t.Fatalf("%+v %v", image, ok)
	}
	if _, ok := s.Get("cli_b", hashOf(data)); ok {
		t.Error("another client can use the upload")
	}
	path := s.path("cli_a", hashOf(data))
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, gif(999), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get("cli_a", hashOf(data)); ok {
		t.Error("a file that was changed on disk is used")
	}
	if err := s.Drop("cli_a", hashOf(data), "../../identity.json"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file that was used is still there")
	}
}

// TestUploadAfterACrash: a crash may leave any prefix of a part on disk, or garbage. The
// upload resumes or restarts, and a stored image matches its hash.
func TestUploadAfterACrash(t *testing.T) {
	data := gif(400)
	for name, left := range map[string][]byte{
		"a beginning": data[:123], "all of it, unnamed": data, "zeros": make([]byte, 200), "too much": append(gif(400), 1, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			s := New(filepath.Join(t.TempDir(), "blobs"))
			upload(t, s, "cli_a", part(data, 0, 1))
			if err := os.WriteFile(s.path("cli_a", hashOf(data))+partSuffix, left, 0o600); err != nil {
				t.Fatal(err)
			}
			err := whole(s, "cli_a", data)
			if err != nil { // it has to restart
				wantKind(t, err, api.KindBadRequest, "from offset 0", "at offset 0")
				err = whole(s, "cli_a", data)
			}
			if _, ok := s.Get("cli_a", hashOf(data)); err != nil || !ok {
				t.Errorf("%v %v", ok, err)
			}
		})
	}
}

func wantKind(t *testing.T, err error, kind api.Kind, says ...string) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind {
		t.Fatalf("%v, want kind %v", err, kind)
	}
	for _, text := range says {
		if strings.Contains(refused.Message, text) {
			return
		}
	}
	t.Errorf("%q, want one of %q", refused.Message, says)
}

func TestUploadRefuses(t *testing.T) {
	data, text := gif(10), []byte("no picture at all")
	for name, c := range map[string]struct {
		request api.UploadBlobRequest
		kind    api.Kind
		says    string
	}{
		"no hash":        {api.UploadBlobRequest{SHA256: "x", Size: 1}, api.KindBadRequest, "64 lower-case hexadecimal digits"},
		"a path":         {api.UploadBlobRequest{SHA256: strings.Repeat("../", 21) + "x", Size: 1}, api.KindBadRequest, "64 lower-case hexadecimal digits"},
		"no size":        {api.UploadBlobRequest{SHA256: hashOf(data)}, api.KindBadRequest, "size"},
		"too large":      {api.UploadBlobRequest{SHA256: hashOf(data), Size: api.MaxImageBytes + 1}, api.KindTooLarge, "smaller"},
		"bad offset":     {api.UploadBlobRequest{SHA256: hashOf(data), Size: 5, Offset: 6}, api.KindBadRequest, "offset"},
		"beyond the end": {api.UploadBlobRequest{SHA256: hashOf(data), Size: 5, Offset: 4, Data: "AAAA"}, api.KindBadRequest, "exceeds"},
		"no base64":      {api.UploadBlobRequest{SHA256: hashOf(data), Size: 5, Data: "%"}, api.KindBadRequest, "base64"},
		"a large part":   {api.UploadBlobRequest{SHA256: hashOf(data), Size: api.MaxImageBytes, Data: strings.Repeat("A", 400<<10)}, api.KindTooLarge, "part"},
		"another hash":   {api.UploadBlobRequest{SHA256: hashOf(text), Size: len(data), Data: part(data, 0, len(data)).Data}, api.KindBadRequest, "from offset 0"},
		"no picture":     {part(text, 0, len(text)), api.KindBadRequest, "not a PNG"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(filepath.Join(t.TempDir(), "blobs"))
			_, err := s.Upload("cli_a", c.request)
			wantKind(t, err, c.kind, c.says)
			if files, err := s.files(); err != nil || len(files) > 0 {
				t.Errorf("it left %v behind, %v", files, err)
			}
		})
	}
}

func TestQuotas(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "blobs"))
	size := api.MaxImageBytes - 1000
	for i := range api.MaxBlobsOfClient / size {
		if err := whole(s, "cli_a", gif(size+i)); err != nil {
			t.Fatal(i, err)
		}
	}
	wantKind(t, whole(s, "cli_a", gif(size+500)), api.KindTooLarge, "this client has too many")
	if err := whole(s, "cli_b", gif(size)); err != nil {
		t.Errorf("another client has no room: %v", err)
	}
	fill := filepath.Join(s.dir, "other")
	if err := errors.Join(os.Mkdir(fill, 0o700), os.WriteFile(filepath.Join(fill, "x"), nil, 0o600), os.Truncate(filepath.Join(fill, "x"), api.MaxBlobs)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, whole(s, "cli_b", gif(7)), api.KindUnavailable, "the host has too many")

	s.now = func() time.Time { return time.Now().Add(keep + time.Hour) }
	if err := s.Collect(); err != nil {
		t.Fatal(err)
	}
	if files, err := s.files(); err != nil || len(files) > 0 {
		t.Errorf("%d old uploads are left, %v", len(files), err)
	}
	if err := whole(s, "cli_a", gif(7)); err != nil {
		t.Error(err)
	}
}
