package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// images are the images of a session's prompts: uploads until a prompt uses them, and
// entries of the log then. The session's goroutine owns it.
type images struct{ *core }

// attached returns the content of a prompt with images; nil where it has none. An image
// that was neither sent along nor uploaded has its hash only: the log may have it.
func (i *images) attached(clientID string, request api.SendPromptRequest) (session.Content, error) {
	if !queue.HasImage(request) {
		return nil, nil
	}
	content := make(session.Content, 0, len(request.Content))
	for _, block := range request.Content {
		switch {
		case block.Type == session.BlockText:
			if strings.TrimSpace(block.Text) != "" { // providers refuse blank text
				content = append(content, session.Text(block.Text))
			}
		case block.Data != "":
			image, err := picture.CheckBase64(block.Data)
			if err != nil {
				return nil, picture.Refuse("an image of the prompt", err)
			}
			content = append(content, image)
		default:
			image := session.Block{Type: session.BlockImage, SHA256: block.SHA256}
			if i.deps.Uploads != nil {
				if uploaded, ok := i.deps.Uploads.Get(clientID, block.SHA256); ok {
					image = uploaded
				}
			}
			content = append(content, image)
		}
	}
	return content, nil
}

// check refuses images that the model does not take, that are nowhere, or that
// are too large together. It returns the content with all of their data.
func (i *images) check(content session.Content) (session.Content, error) {
	if !content.HasImage() {
		return nil, nil
	}
	_, model, err := i.deps.Models.Model(i.summary.Model)
	if err != nil {
		return nil, err
	}
	if !model.Images {
		return nil, api.Errorf(api.KindBadRequest, "the model %s does not accept images: choose another model. If it does accept them, set that where it was added: in the settings of the machine, or with images = true in config.toml", model.Name)
	}
	content = slices.Clone(content)
	for at, block := range content {
		if block.Type != session.BlockImage || block.Data != "" {
			continue
		}
		image, ok := i.view.Image(i.log.Tree().Entries(), block.SHA256)
		if !ok {
			return nil, api.Errorf(api.KindNotFound, "the image %.12s is not on the host: upload it again, then repeat this", block.SHA256)
		}
		content[at] = image
	}
	return content, queue.CheckImages(content)
}

// keep writes the images of a prompt into the log before the queue names them, so that the
// log alone is enough to start the prompt later.
func (i *images) keep(content session.Content, clientID string) error {
	for _, block := range content {
		if block.Type != session.BlockImage {
			continue
		}
		if _, known := i.view.Image(i.log.Tree().Entries(), block.SHA256); known {
			continue
		}
		if err := i.appendCustom(session.CustomImage, block, clientID); err != nil {
			return err
		}
	}
	return nil
}

// contentOf returns the content of a waiting prompt with the data of its images.
func (i *images) contentOf(prompt session.QueuedPrompt) session.Content {
	if len(prompt.Content) == 0 {
		return session.Content{session.Text(prompt.Text)}
	}
	content := slices.Clone(prompt.Content)
	for at, block := range content {
		if block.Type != session.BlockImage {
			continue
		}
		image, ok := i.view.Image(i.log.Tree().Entries(), block.SHA256)
		if !ok { // of a file that someone has edited
			image = session.Text("[An image of this prompt is missing.]")
		}
		content[at] = image
	}
	return content
}

// dropUploads removes the uploads that the log has now.
func (i *images) dropUploads(clientID string, content session.Content) {
	if i.deps.Uploads == nil || !content.HasImage() {
		return
	}
	var hashes []string
	for _, block := range content {
		if block.Type == session.BlockImage {
			hashes = append(hashes, block.SHA256)
		}
	}
	if err := i.deps.Uploads.Drop(clientID, hashes...); err != nil {
		i.logger.Error("removing uploads that a prompt has used", "session", i.id, "error", err)
	}
}

// Blob returns a part of an image of the session.
func (i *images) Blob(ctx context.Context, r api.GetBlobRequest) (response api.GetBlobResponse, err error) {
	if r.Offset < 0 || r.Offset%3 != 0 {
		return response, api.Errorf(api.KindBadRequest, "offset must be next of the previous answer")
	}
	return inside(ctx, &i.owner, func() (api.GetBlobResponse, error) { return i.blob(r) })
}

func (i *images) blob(r api.GetBlobRequest) (api.GetBlobResponse, error) {
	image, ok := i.view.Image(i.log.Tree().Entries(), r.SHA256)
	if !ok {
		return api.GetBlobResponse{}, api.Errorf(api.KindNotFound, "this session has no image %.12s", r.SHA256)
	}
	response := api.GetBlobResponse{MimeType: image.MimeType, Size: cmp.Or(image.Size, len(image.Data)/4*3)}
	from := min(r.Offset/3*4, len(image.Data))
	to := min(from+api.MaxBlobChunk/3*4, len(image.Data))
	response.Data = image.Data[from:to]
	if to < len(image.Data) {
		response.Next = r.Offset + api.MaxBlobChunk
	}
	return response, nil
}
