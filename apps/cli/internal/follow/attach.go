package follow

import (
	"context"
	"strings"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// attach uploads the images of the prompt and appends their references to its text. Parts
// that arrived over an earlier connection are not sent again.
func (r *runner) attach(ctx context.Context, c *client.Client, request *api.SendPromptRequest) error {
	if len(r.cfg.Images) == 0 {
		return nil
	}
	request.Text = ""
	if strings.TrimSpace(r.cfg.Text) != "" {
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockText, Text: r.cfg.Text})
	}
	for _, image := range r.cfg.Images {
		hash, err := client.Upload(ctx, c, image)
		if err != nil {
			return err
		}
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockImage, SHA256: hash})
	}
	return nil
}
