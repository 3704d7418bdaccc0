package agent

import (
	"fmt"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// How many images one request holds. Providers take more, but shrink or refuse large
// ones from about this number on, and each of them is sent again with every call.
const (
	maxImages     = 20
	maxImageBytes = 14 << 20 // in base64, so that a request stays under the 20 MB of the strictest provider
)

// seenImages returns the messages with a note in the place of each image that the model
// does not get: all of them where it takes none, else the oldest that are too many. The
// oldest go in batches of half of what is kept, so that the beginning of the prompt stays
// the same for a while and is found in the provider's cache.
func (r *runner) seenImages(messages []session.Message) []session.Message {
	size := r.history.size
	switch {
	case size.images == 0:
		return messages
	case !r.Images:
		return dropImages(messages, size.images, "[%s: this model does not accept images.]")
	}
	drop := oldestImages(messages)
	if drop == 0 {
		return messages
	}
	return dropImages(messages, drop, "[%s was left out to make room. If it is needed, read the file again or ask for the image.]")
}

// oldestImages returns how many images at the beginning are too many. Those of the last
// message of the user are not among them.
func oldestImages(messages []session.Message) (drop int) {
	var sizes []int
	all, prompt := 0, 0
	for i := range messages {
		if messages[i].Role == session.RoleUser && !messages[i].Note {
			prompt = len(sizes)
		}
		for _, block := range messages[i].Content {
			if block.Type == session.BlockImage {
				sizes = append(sizes, len(block.Data))
				all += len(block.Data)
			}
		}
	}
	drop = batches(len(sizes)-maxImages, maxImages/2)
	for i, over := 0, batches(all-maxImageBytes, maxImageBytes/2); over > 0 && i < len(sizes); i++ {
		over -= sizes[i]
		drop = max(drop, i+1)
	}
	return min(drop, prompt)
}

// batches rounds what is too much up to whole batches; 0 where nothing is.
func batches(over, batch int) int {
	if over <= 0 {
		return 0
	}
	return (over + batch - 1) / batch * batch
}

// dropImages puts a note in the place of the first images. The input is not changed.
func dropImages(messages []session.Message, drop int, note string) []session.Message {
	out := slices.Clone(messages)
	for i := range out {
		if drop == 0 {
			break
		}
		if !out[i].Content.HasImage() {
			continue
		}
		content := slices.Clone(out[i].Content)
		for j, block := range content {
			if block.Type == session.BlockImage && drop > 0 {
				content[j] = session.Text(fmt.Sprintf(note, imageName(block)))
				drop--
			}
		}
		out[i].Content = content
	}
	return out
}

func imageName(block session.Block) string {
	if block.Width > 0 && block.Height > 0 {
		return fmt.Sprintf("An image (%s, %d x %d pixels)", block.MimeType, block.Width, block.Height)
	}
	return fmt.Sprintf("An image (%s)", block.MimeType)
}
