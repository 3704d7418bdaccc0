package api

import "github.com/scorel/scorel/packages/protocol/session"

// Limits of images.
const (
	MaxImages      = 10           // images per prompt
	MaxImageBytes  = 3_932_160    // bytes per image; in base64 this is the 5 MiB limit of providers
	MaxImagesBytes = 10 << 20     // total bytes of a prompt's images
	MaxImagePixels = 8000         // pixels per side
	MaxBlobChunk   = 240 << 10    // bytes in one upload_blob or get_blob, before base64; a multiple of 3
	MaxQueueImages = 4 * 10 << 20 // total image bytes of all queued prompts of a session
	// MaxBlobsOfClient and MaxBlobs limit the uploads not yet used by a prompt, in
	// bytes: per client, and in total.
	MaxBlobsOfClient = 64 << 20
	MaxBlobs         = 256 << 20
)

// ImageTypes lists the MIME types that a prompt may contain. The host detects the
// type from an image's content, not from its name.
func ImageTypes() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

type (
	// PromptBlock is a piece of a prompt: text or an image. An image is either sent
	// as Data or referenced by its SHA256 if it was uploaded or is already in the
	// session.
	PromptBlock struct {
		Type   session.BlockType `json:"type" req:"max=64"` // "text" or "image"
		Text   string            `json:"text,omitempty" req:"max=1048576"`
		SHA256 string            `json:"sha256,omitempty" req:"max=64"`    // lower-case hex
		Data   string            `json:"data,omitempty" req:"max=5242880"` // base64
	}
	// UploadBlobRequest uploads a part of an image. Without Data it asks how much
	// the host has. Sending a part again changes nothing.
	UploadBlobRequest struct {
		SHA256 string `json:"sha256" req:"min=64,max=64"` // hash of the whole image, lower-case hex
		Size   int    `json:"size"`                       // size of the whole image in bytes
		Offset int    `json:"offset,omitempty"`
		Data   string `json:"data,omitempty" req:"max=327680"` // base64, at most MaxBlobChunk bytes before encoding
	}
	// UploadBlobResponse reports how much the host has, which is the offset of the
	// next part.
	UploadBlobResponse struct {
		Received int `json:"received"`
		// Image describes the image once it is complete and verified.
		Image *session.Block `json:"image,omitempty"`
	}
	// GetBlobRequest requests a part of an image of a session.
	GetBlobRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		SHA256    string `json:"sha256" req:"max=64"`
		Offset    int    `json:"offset,omitempty"` // a multiple of 3
	}
	GetBlobResponse struct {
		MimeType string `json:"mimeType"`
		Size     int    `json:"size"` // size of the whole image in bytes
		Data     string `json:"data"` // base64 of at most MaxBlobChunk bytes
		Next     int    `json:"next,omitempty"`
	}
)
