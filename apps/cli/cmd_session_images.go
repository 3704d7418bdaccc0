package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionImages(a *app) *cobra.Command {
	var (
		asJSON bool
		output string
	)
	cmd := &cobra.Command{
		Use:   "images ID [IMAGE]",
		Short: "List the images of a session, or save one",
		Long: `List the images in the messages of a session. With an IMAGE from that list and --output, write
it to a file, which must not exist. With --json, each line is one image.`,
		Example: "  scorel session images ID\n  scorel session images ID 9f86d081884c --output shot.png",
		Args:    argCount(1, 2, "the id of one session, and at most one image"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (len(args) == 2) != (output != "") {
			return usagef("an image and --output belong together: give both to save an image, or neither for a list")
		}
		return to.use(cmd.Context(), func(c *client.Client) error {
			images, err := imagesOf(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if output == "" {
				return printImages(a.stdout, images, asJSON)
			}
			return saveImage(cmd.Context(), a.stdout, c, args, images, output, asJSON)
		})
	}
	return cmd
}

// sessionImage is an image in a message of a session.
type sessionImage struct {
	SHA256  string `json:"sha256"`
	Type    string `json:"type"`
	Bytes   int    `json:"bytes"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	EntryID string `json:"entryId"`
	File    string `json:"file,omitempty"` // where it was saved
}

func imagesOf(ctx context.Context, c *client.Client, id string) (images []sessionImage, _ error) {
	response, err := loadLog(ctx, c, id)
	if err != nil {
		return nil, err
	}
	for _, entry := range response.Entries {
		message, ok := entry.AsMessage()
		if !ok {
			continue
		}
		for _, block := range message.Message.Content {
			if block.Type == session.BlockImage && block.SHA256 != "" {
				images = append(images, sessionImage{
					SHA256: block.SHA256, Type: block.MimeType, Bytes: block.Size, Width: block.Width, Height: block.Height, EntryID: entry.ID,
				})
			}
		}
	}
	return images, nil
}

func printImages(stdout io.Writer, images []sessionImage, asJSON bool) error {
	return printList(stdout, asJSON, images, listing[sessionImage]{
		none:   "the session has no images",
		header: []string{"IMAGE", "TYPE", "BYTES", "PIXELS", "ENTRY"},
		row: func(_ int, i sessionImage) []string {
			return []string{i.SHA256[:min(len(i.SHA256), 12)], i.Type, fmt.Sprint(i.Bytes), fmt.Sprintf("%d x %d", i.Width, i.Height), i.EntryID}
		},
	})
}

// saveImage writes the image that args names by the beginning of its hash.
func saveImage(ctx context.Context, stdout io.Writer, c *client.Client, args []string, images []sessionImage, output string, asJSON bool) error {
	image, err := findImage(images, args[1])
	if err != nil {
		return err
	}
	text, err := client.Image(ctx, c, args[0], image.SHA256)
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("reading an image: %w", err)
	}
	if err := writeOut(stdout, output, data); err != nil {
		return err
	}
	image.File = output
	if asJSON {
		return printJSON(stdout, image)
	}
	_, err = fmt.Fprintln(stdout, printable(output))
	return err
}

func findImage(images []sessionImage, given string) (sessionImage, error) {
	return named[sessionImage]{
		what: "image", id: "hash", list: "scorel session images",
		ids: func(i sessionImage) (id, name string) { return i.SHA256, "" },
	}.find(images, given)
}
