package api

import "github.com/scorel/scorel/packages/protocol/session"

// Limits of images.
const (
	MaxImages      = 10           // images per prompt
	MaxImageBytes  = 3_932_160    // bytes per image; in base64 this is the 5 MiB limit of providers
	MaxImagesBytes = 10 << 20     // total bytes of a prompt's images
	MaxImagePixels = 8000         // pixels of each side of an image
	MaxBlobChunk   = 240 << 10    // bytes in one upload_blob or get_blob, before base64; a multiple of 3
	MaxQueueImages = 4 * 10 << 20 // total image bytes of all queued prompts of a session
	// MaxBlobsOfClient limits the uploads of one client that no prompt has used, in bytes.
	MaxBlobsOfClient = 64 << 20
	// MaxBlobs limits the uploads of all clients that no prompt has used, in bytes.
	MaxBlobs = 256 << 20
)

// Limits of files in prompts that are no images.
const (
	MaxFiles          = 10        // files per prompt
	MaxFileBytes      = 16 << 20  // bytes per file
	MaxFilesBytes     = 32 << 20  // total bytes of a prompt's files
	MaxFilesOfSession = 256 << 20 // total bytes of the files of a session
)

type (
	// PromptBlock is a piece of a prompt: text, an image or a file. An image is either
	// sent as Data or referenced by its SHA256 if it was uploaded or is already in the
	// session. A file is referenced by its SHA256 and was uploaded.
	PromptBlock struct {
		Type   session.BlockType `json:"type" req:"max=64"`                // "text", "image" or "file"
		Text   string            `json:"text,omitempty" req:"max=1048576"` // of a text
		SHA256 string            `json:"sha256,omitempty" req:"max=64"`    // of an image or file that is already on the host
		Data   string            `json:"data,omitempty" req:"max=5242880"` // of an image that is sent with the prompt, in base64
		Name   string            `json:"name,omitempty" req:"max=1024"`    // of a file
	}
	// UploadBlobRequest uploads a part of an image or a file. Without Data it asks how
	// much the host has. Sending a part again changes nothing.
	UploadBlobRequest struct {
		SHA256 string `json:"sha256" req:"min=64,max=64"` // hash of the whole, lower-case hex
		Size   int    `json:"size"`                       // size of the whole in bytes
		Offset int    `json:"offset,omitempty"`
		Data   string `json:"data,omitempty" req:"max=327680"` // base64, at most MaxBlobChunk bytes before encoding
		// File uploads a file, which may be anything. Hosts whose get_host has no maxFile
		// do not know it and reject what is not an image.
		File bool `json:"file,omitempty"`
	}
	// UploadBlobResponse reports how much the host has, which is the offset of the
	// next part.
	UploadBlobResponse struct {
		Received int `json:"received"`
		// Image describes the image once it is complete and verified.
		Image *session.Block `json:"image,omitempty"`
		// Complete is true once a file is complete and verified.
		Complete bool `json:"complete,omitempty"`
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
