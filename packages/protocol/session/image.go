package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
)

// An image is stored in the log as Pi writes it, complete and in base64, so that a
// file is self-contained. On the wire its block references the image by its hash
// and has no data; clients request the bytes when they need them.

// WithoutImageData returns the entry with the data of each image block emptied, and
// whether it has any image. A block without hash and size gets them; its other
// members keep their text. Only members that hold content in this format are
// examined.
func (e Entry) WithoutImageData() (slim Entry, found bool) {
	line, found := imagesEmptied(e)
	if !found {
		return e, false
	}
	slim, err := ParseEntry(line)
	if err != nil { // cannot fail: the line is still an entry
		return e, false
	}
	slim.Seq = e.Seq
	return slim, true
}

// Images returns the image blocks of an entry with their data, each with its hash
// and size.
func (e Entry) Images() []Block {
	var images []Block
	_, _ = e.mapImages(func(block []byte) []byte {
		images = append(images, imageOf(block))
		return block
	})
	return images
}

// WithImageData reverses WithoutImageData: load returns the base64 data of the
// image with a hash, or false to leave the block unchanged.
func (e Entry) WithImageData(load func(sha256 string) (data string, ok bool)) (Entry, error) {
	line, found := e.mapImages(func(block []byte) []byte {
		if memberString(block, "data") != "" {
			return block
		}
		data, ok := load(memberString(block, "sha256"))
		if !ok {
			return block
		}
		if string(member(block, "computed")) == "true" {
			for _, name := range []string{"sha256", "size", "computed"} {
				block = withMember(block, name, nil)
			}
		}
		return withMember(block, "data", appendQuoted(nil, data))
	})
	if !found {
		return e, nil
	}
	whole, err := ParseEntry(line)
	if err == nil {
		whole.Seq = e.Seq
	}
	return whole, err
}

func imagesEmptied(e Entry) (line []byte, found bool) {
	return e.mapImages(func(block []byte) []byte {
		if memberString(block, "sha256") == "" {
			image := imageOf(block)
			block = withMember(block, "sha256", appendQuoted(nil, image.SHA256))
			block = withMember(block, "size", strconv.AppendInt(nil, int64(image.Size), 10))
			block = withMember(block, "computed", []byte("true")) // hash and size are not in the log
		}
		return withMember(block, "data", []byte(`""`))
	})
}

// mapImages returns the line with each image block replaced; found is false if
// there are none, and the line is then the entry's own.
func (e Entry) mapImages(change func(block []byte) []byte) (line []byte, found bool) {
	if !bytes.Contains(e.Raw, []byte(`"image"`)) {
		return e.Raw, false
	}
	switch e.Type {
	case TypeMessage:
		return inMember(e.Raw, "message", func(message []byte) ([]byte, bool) { return inMember(message, "content", inContent(change)) })
	case TypeCustomMessage:
		return inMember(e.Raw, "content", inContent(change))
	case TypeContextEdit:
		return inMember(e.Raw, "replacement", func(r []byte) ([]byte, bool) { return inMember(r, "content", inContent(change)) })
	case TypeCustom:
		if e.CustomType == CustomImage {
			return inMember(e.Raw, "data", inBlock(change))
		}
	}
	return e.Raw, false
}

func inMember(object []byte, name string, change func([]byte) ([]byte, bool)) ([]byte, bool) {
	value, found := change(member(object, name))
	if !found {
		return object, false
	}
	return withMember(object, name, value), true
}

func inContent(change func([]byte) []byte) func([]byte) ([]byte, bool) {
	return func(content []byte) (out []byte, found bool) {
		blocks := elements(content)
		for i, block := range blocks {
			changed, isImage := inBlock(change)(block)
			blocks[i], found = changed, found || isImage
		}
		if !found {
			return content, false
		}
		return jsonList(blocks), true
	}
}

func inBlock(change func([]byte) []byte) func([]byte) ([]byte, bool) {
	return func(block []byte) ([]byte, bool) {
		if memberString(block, "type") != string(BlockImage) {
			return block, false
		}
		return change(block), true
	}
}

func imageOf(block []byte) Block {
	image := Block{
		Type: BlockImage, Data: memberString(block, "data"), MimeType: memberString(block, "mimeType"), SHA256: memberString(block, "sha256"),
		Size: memberInt(block, "size"), Width: memberInt(block, "width"), Height: memberInt(block, "height"),
	}
	if image.SHA256 == "" {
		image.SHA256, image.Size = HashImage(image.Data)
	}
	return image
}

func memberInt(object []byte, name string) int {
	n, err := strconv.Atoi(string(member(object, name)))
	if err != nil || n < 0 { // absent, or written by another program
		return 0
	}
	return n
}

// HashImage returns the SHA-256 in lower-case hex and the size of the bytes that
// base64 encodes. For text that is not base64 it hashes the text itself.
func HashImage(data string) (sum string, size int) {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		decoded = []byte(data)
	}
	hash := sha256.Sum256(decoded)
	return hex.EncodeToString(hash[:]), len(decoded)
}

// References returns the content with images that have no data and are referenced
// by hash instead.
func (c Content) References() Content {
	out := slices.Clone(c)
	for i, block := range out {
		if block.Type != BlockImage {
			continue
		}
		if block.SHA256 == "" {
			out[i].SHA256, out[i].Size = HashImage(block.Data)
		}
		out[i].Data = ""
	}
	return out
}
