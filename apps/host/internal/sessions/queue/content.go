package queue

import (
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Text returns the text of a prompt in either form.
func Text(request api.SendPromptRequest) string {
	if len(request.Content) == 0 {
		return request.Text
	}
	var b strings.Builder
	for _, block := range request.Content {
		if block.Type == session.BlockText {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// HasImage reports whether a prompt holds an image.
func HasImage(request api.SendPromptRequest) bool {
	return slices.ContainsFunc(request.Content, func(b api.PromptBlock) bool { return b.Type == session.BlockImage })
}

func checkBlocks(blocks []api.PromptBlock) error {
	images := 0
	for i, block := range blocks {
		switch {
		case block.Type == session.BlockText && block.SHA256 == "" && block.Data == "":
		case block.Type == session.BlockImage && block.Text == "" && (block.SHA256 == "") != (block.Data == ""):
			images++
		case block.Type == session.BlockImage:
			return api.Errorf(api.KindBadRequest, "content.%d: an image has sha256 or data, and nothing else", i)
		default:
			return api.Errorf(api.KindBadRequest, "content.%d: the type must be text, with text, or image", i)
		}
	}
	if images > api.MaxImages {
		return api.Errorf(api.KindTooLarge, "the prompt has %d images, the limit is %d: send the others with another prompt", images, api.MaxImages)
	}
	if len(blocks) > 2*api.MaxImages+1 {
		return api.Errorf(api.KindTooLarge, "the prompt has %d blocks, the limit is %d: join neighboring texts", len(blocks), 2*api.MaxImages+1)
	}
	return nil
}

// ImageBytes returns the total size of the images of prompts, in bytes.
func ImageBytes(waiting []session.QueuedPrompt) int {
	sum := 0
	for _, q := range waiting {
		sum += imageBytes(q.Content)
	}
	return sum
}

func imageBytes(content session.Content) int {
	sum := 0
	for _, block := range content {
		sum += block.Size
	}
	return sum
}

// CheckImages rejects images whose total size exceeds the limit.
func CheckImages(content session.Content) error {
	if size := imageBytes(content); size > api.MaxImagesBytes {
		return api.Errorf(api.KindTooLarge, "the images of the prompt have %d bytes together, the limit is %d: send some of them with another prompt", size, api.MaxImagesBytes)
	}
	return nil
}

// retext replaces the text of a prompt with images, at the position of its first text, or at
// the beginning if it had none.
func retext(content session.Content, text string) session.Content {
	if len(content) == 0 {
		return nil
	}
	isText := func(b session.Block) bool { return b.Type == session.BlockText }
	at := max(slices.IndexFunc(content, isText), 0)
	out := slices.DeleteFunc(slices.Clone(content), isText)
	if text == "" {
		return out
	}
	return slices.Insert(out, at, session.Text(text))
}

// without removes images from a prompt. A prompt without images becomes text again.
func without(content session.Content, hashes []string) session.Content {
	out := slices.DeleteFunc(slices.Clone(content), func(b session.Block) bool {
		return b.Type == session.BlockImage && slices.Contains(hashes, b.SHA256)
	})
	if !out.HasImage() {
		return nil
	}
	return out
}

func hasAny(content session.Content, hashes []string) bool {
	return slices.ContainsFunc(content, func(b session.Block) bool {
		return b.Type == session.BlockImage && slices.Contains(hashes, b.SHA256)
	})
}
