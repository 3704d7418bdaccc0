package files

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (f *Files) listFiles(ctx context.Context, _ *dispatch.Conn, r api.ListFilesRequest) (response api.ListFilesResponse, err error) {
	at, err := f.placeOf(r.Place)
	if err != nil {
		return response, err
	}
	entries, truncated, err := at.folder.Entries(ctx, r.Path, api.MaxFileEntries)
	if ctx.Err() != nil {
		return response, context.Cause(ctx)
	}
	if err != nil {
		return response, fileError(r.Path, err)
	}
	tool.SortFoldersFirst(entries)
	response = api.ListFilesResponse{Entries: []api.FileEntry{}, Truncated: truncated}
	for _, entry := range entries {
		if ctx.Err() != nil { // links of each are followed
			return api.ListFilesResponse{}, context.Cause(ctx)
		}
		listed := api.FileEntry{Name: entry.Name(), Kind: kindOf(entry.Type()), Closed: at.closed(path.Join(r.Path, entry.Name()))}
		if listed.Kind == api.FileRegular && entry.Info != nil {
			listed.Size = entry.Info.Size()
		}
		response.Entries = append(response.Entries, listed)
	}
	return response, nil
}

func kindOf(mode fs.FileMode) api.FileKind {
	switch {
	case mode.IsDir():
		return api.FileFolder
	case mode&fs.ModeSymlink != 0:
		return api.FileLink
	case mode.IsRegular():
		return api.FileRegular
	}
	return api.FileOther
}

func (f *Files) readFile(ctx context.Context, _ *dispatch.Conn, r api.ReadFileRequest) (response api.ReadFileResponse, err error) {
	at, err := f.placeOf(r.Place)
	if err != nil {
		return response, err
	}
	if err := at.checkOpen(r.Path); err != nil {
		return response, err
	}
	file, err := at.folder.Open(r.Path)
	if err != nil {
		return response, fileError(r.Path, err)
	}
	defer file.Close()
	if ctx.Err() != nil {
		return response, context.Cause(ctx)
	}
	info, err := file.Stat()
	if err != nil {
		return response, fileError(r.Path, err)
	}
	if r.Raw {
		return readRaw(file, r, info.Size())
	}
	head := make([]byte, min(info.Size(), sniffed))
	if n, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return response, fileError(r.Path, err)
	} else if !isText(head[:n], int64(n) < info.Size()) {
		return api.ReadFileResponse{Size: info.Size(), Binary: true}, nil
	}
	if ctx.Err() != nil {
		return response, context.Cause(ctx)
	}
	part := make([]byte, api.MaxFilePart)
	n, err := file.ReadAt(part, r.From)
	if err != nil && !errors.Is(err, io.EOF) {
		return response, fileError(r.Path, err)
	}
	text, more := wholeRunes(part[:n], err == nil)
	response = api.ReadFileResponse{Size: info.Size(), Text: string(text)}
	if more {
		response.Next = r.From + int64(len(text))
	}
	if !utf8.Valid(text) {
		response.Text = string([]rune(string(text))) // each byte that is no text becomes U+FFFD
	}
	return response, nil
}

// readRaw returns a part of a file as it is.
func readRaw(file io.ReaderAt, r api.ReadFileRequest, size int64) (response api.ReadFileResponse, err error) {
	part := make([]byte, min(api.MaxFilePart, max(0, size-r.From)))
	n, err := file.ReadAt(part, r.From)
	if err != nil && !errors.Is(err, io.EOF) {
		return response, fileError(r.Path, err)
	}
	response = api.ReadFileResponse{Size: size, Data: base64.StdEncoding.EncodeToString(part[:n])}
	if next := r.From + int64(n); n > 0 && next < size {
		response.Next = next
	}
	return response, nil
}

// sniffed is how much of a file decides whether it is text, in bytes.
const sniffed = 8 << 10

// isText reports whether the beginning of a file is text. more says that the file continues.
func isText(head []byte, more bool) bool {
	head, _ = wholeRunes(head, more)
	for _, c := range head {
		if c == 0 {
			return false
		}
	}
	return utf8.Valid(head)
}

// wholeRunes leaves out the last character of a part that continues, if it is cut.
func wholeRunes(part []byte, more bool) ([]byte, bool) {
	for i := 1; more && i < utf8.UTFMax && i < len(part); i++ {
		if at := len(part) - i; utf8.RuneStart(part[at]) {
			if !utf8.FullRune(part[at:]) {
				part = part[:at]
			}
			break
		}
	}
	return part, more
}
