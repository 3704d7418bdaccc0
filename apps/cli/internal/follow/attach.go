package follow

import (
	"context"
	"strings"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// File is stored on the host below the session. The prompt mentions its path.
type File struct {
	Name string
	Data []byte
}

// attach uploads the images and files of the prompt and appends their references to its text.
// Parts that arrived over an earlier connection are not sent again.
func (r *runner) attach(ctx context.Context, c *client.Client, request *api.SendPromptRequest) error {
	if len(r.cfg.Images) == 0 && len(r.cfg.Files) == 0 {
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
	if len(r.cfg.Files) > 0 {
		if err := takesFiles(ctx, c); err != nil {
			return err
		}
	}
	for _, file := range r.cfg.Files {
		hash, err := client.UploadFile(ctx, c, file.Data)
		if err != nil {
			return err
		}
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockFile, SHA256: hash, Name: file.Name})
	}
	return nil
}

// takesFiles fails if the host is too old for files.
func takesFiles(ctx context.Context, c *client.Client) error {
	host, err := client.Call(ctx, c, api.GetHost, api.Empty{})
	if err != nil {
		return err
	}
	if host.Host.MaxFile == 0 {
		return api.Errorf(api.KindUnknownRequest, "this host runs an older scorel, which takes only text files of at most %d KiB in prompts: update it", MaxTextFile>>10)
	}
	return nil
}
