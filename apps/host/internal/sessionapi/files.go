package sessionapi

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/attached"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func isFile(b api.PromptBlock) bool { return b.Type == session.BlockFile }

// filesOf returns the hashes of the files of a prompt.
func filesOf(r api.SendPromptRequest) (hashes []string) {
	for _, block := range r.Content {
		if isFile(block) {
			hashes = append(hashes, block.SHA256)
		}
	}
	return hashes
}

// attach stores the files of a prompt in the session's folder, and replaces them in the prompt
// by a text with their paths. A prompt without files stays as it is.
func (s *Sessions) attach(clientID string, r api.SendPromptRequest) (api.SendPromptRequest, error) {
	var notes []string
	var total int64
	for i, block := range r.Content {
		if !isFile(block) {
			continue
		}
		if block.SHA256 == "" || block.Name == "" || block.Text != "" || block.Data != "" {
			return r, api.Errorf(api.KindBadRequest, "content.%d: a file has sha256 and name, and nothing else", i)
		}
		if len(notes) == api.MaxFiles {
			return r, api.Errorf(api.KindTooLarge, "the prompt has more than %d files: send the others with another prompt", api.MaxFiles)
		}
		path, size, err := s.store(clientID, r.SessionID, block)
		if err != nil {
			return r, err
		}
		if total += size; total > api.MaxFilesBytes {
			return r, api.Errorf(api.KindTooLarge, "the files of the prompt have more than %d bytes together: send some of them with another prompt", api.MaxFilesBytes)
		}
		notes = append(notes, fmt.Sprintf("Attached file: %s\nPath: %s\nSize: %d bytes", attached.CleanName(block.Name), path, size))
	}
	if len(notes) > 0 {
		r.Content = withNotes(slices.DeleteFunc(slices.Clone(r.Content), isFile), strings.Join(notes, "\n\n"))
	}
	return r, nil
}

// withNotes adds the notes to the last text.
func withNotes(content []api.PromptBlock, notes string) []api.PromptBlock {
	for i, block := range slices.Backward(content) {
		if block.Type == session.BlockText {
			content[i].Text = strings.TrimLeft(block.Text+"\n\n"+notes, "\n")
			return content
		}
	}
	return slices.Insert(content, 0, api.PromptBlock{Type: session.BlockText, Text: notes})
}

// store stores one uploaded file. A file that the session has from an earlier prompt needs no
// upload.
func (s *Sessions) store(clientID, sessionID string, block api.PromptBlock) (path string, size int64, err error) {
	dir := s.scratch(sessionID)
	data, err := s.blobs.File(clientID, block.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		if path, size, err = attached.Find(dir, block.SHA256, block.Name); err == nil {
			return path, size, nil
		}
		return "", 0, api.Errorf(api.KindNotFound, "the file %.12s is not on the host: upload it again, then repeat this", block.SHA256)
	}
	if err != nil {
		return "", 0, fmt.Errorf("sessionapi: reading an uploaded file: %w", err)
	}
	path, err = attached.Store(dir, block.SHA256, block.Name, data, api.MaxFilesOfSession)
	if errors.Is(err, attached.ErrFull) {
		return "", 0, api.Errorf(api.KindTooLarge, "the files of this session would have more than %d bytes: copy the file to the project instead", api.MaxFilesOfSession)
	}
	return path, int64(len(data)), err
}
