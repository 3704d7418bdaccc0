package window

import (
	"bytes"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// View determines how the entries of one open log are sent: without image data, which is too
// large. It caches the result for each entry with images. One goroutine owns it.
type View struct {
	slim map[uint64]session.Entry // by seq; only entries with images
	at   map[string]uint64        // sha256 of an image that was sent -> seq of its entry
}

// NewView returns the view of a newly opened log.
func NewView() *View { return &View{slim: map[uint64]session.Entry{}, at: map[string]uint64{}} }

// Image finds an image by its hash among the entries of the log; false if there is none.
func (v *View) Image(entries []session.Entry, sha256 string) (session.Block, bool) {
	if seq, ok := v.at[sha256]; ok {
		if i := FirstAfter(entries, seq) - 1; i >= 0 {
			if image, ok := v.imageIn(entries[i], sha256); ok {
				return image, true
			}
		}
	}
	for _, entry := range slices.Backward(entries) {
		if image, ok := v.imageIn(entry, sha256); ok {
			v.at[sha256] = entry.Seq
			return image, true
		}
	}
	return session.Block{}, false
}

func (v *View) imageIn(entry session.Entry, sha256 string) (session.Block, bool) {
	if !bytes.Contains(v.withoutImages(entry).Raw, []byte(sha256)) {
		return session.Block{}, false
	}
	for _, image := range entry.Images() {
		if image.SHA256 == sha256 && image.Data != "" {
			return image, true
		}
	}
	return session.Block{}, false
}

// withoutImages returns an entry without its image data.
func (v *View) withoutImages(entry session.Entry) session.Entry {
	if slim, ok := v.slim[entry.Seq]; ok && entry.Seq != 0 {
		return slim
	}
	slim, found := entry.WithoutImageData()
	if found {
		v.slim[entry.Seq] = slim
	}
	return slim
}

// AllSendable returns entries as they are sent, without those that cannot be parsed.
func (v *View) AllSendable(entries []session.Entry) []session.Entry {
	sent := make([]session.Entry, 0, len(entries))
	for _, entry := range entries {
		if entry = v.Sendable(entry); entry.Raw != nil {
			sent = append(sent, entry)
		}
	}
	return sent
}

// Sendable returns the form in which an entry is sent: without image data; a custom entry in
// its place if it is too long; and an entry with a nil Raw if its line is not an entry, as in a
// damaged file.
func (v *View) Sendable(entry session.Entry) session.Entry {
	entry = v.withoutImages(entry)
	if len(entry.Raw) > api.MaxEntryBytes {
		return omitted(entry)
	}
	if !entry.Strict() {
		return session.Entry{}
	}
	return entry
}

func omitted(entry session.Entry) session.Entry {
	data, err := session.Encode(session.OmittedRecord{Type: entry.Type, Bytes: len(entry.Raw)})
	if err != nil {
		return session.Entry{}
	}
	stand := session.CustomEntry{
		Type: session.TypeCustom, CustomType: session.CustomOmitted, Data: data,
		ID: entry.ID, Timestamp: entry.Timestamp, Seq: entry.Seq,
	}
	if entry.ParentID != "" {
		stand.ParentID = &entry.ParentID
	}
	line, err := session.Encode(stand)
	if err != nil {
		return session.Entry{}
	}
	short, err := session.ParseEntry(line)
	if err != nil { // it has no id
		return session.Entry{}
	}
	return short
}
