package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Upload sends an image to the host for a later prompt and returns its hash. Parts
// that the host already has, as after an interrupted upload, are not sent again.
func Upload(ctx context.Context, c *Client, data []byte) (hash string, err error) {
	return upload(ctx, c, data, false)
}

// UploadFile is Upload for a file, which may be anything. Hosts whose get_host has no MaxFile
// reject it.
func UploadFile(ctx context.Context, c *Client, data []byte) (hash string, err error) {
	return upload(ctx, c, data, true)
}

func upload(ctx context.Context, c *Client, data []byte, file bool) (hash string, err error) {
	sum := sha256.Sum256(data)
	request := api.UploadBlobRequest{SHA256: hex.EncodeToString(sum[:]), Size: len(data), File: file}
	for stuck := 0; stuck < 3; {
		r, err := Call(ctx, c, api.UploadBlob, request)
		if err != nil {
			return "", err
		}
		if r.Image != nil || r.Complete {
			return request.SHA256, nil
		}
		if r.Received < 0 || r.Received > len(data) {
			break
		}
		if request.Data != "" && r.Received <= request.Offset { // another client is sending the same content
			stuck++
		}
		request.Offset = r.Received
		request.Data = base64.StdEncoding.EncodeToString(data[r.Received:min(r.Received+api.MaxBlobChunk, len(data))])
	}
	return "", errors.New("uploading an attachment: the host keeps rejecting its parts")
}

// Image returns an image of a session in base64.
func Image(ctx context.Context, c *Client, sessionID, hash string) (string, error) {
	var data strings.Builder
	for next := 0; ; {
		r, err := Call(ctx, c, api.GetBlob, api.GetBlobRequest{SessionID: sessionID, SHA256: hash, Offset: next})
		if err != nil {
			return "", err
		}
		data.WriteString(r.Data)
		switch {
		case r.Next == 0:
			return data.String(), nil
		case r.Next <= next:
			return "", fmt.Errorf("reading an image: the host's answers make no progress (%d after %d)", r.Next, next)
		}
		next = r.Next
	}
}

// WithImages returns the entries of a session as in its log, with the data of their
// images, which a host sends separately.
func WithImages(ctx context.Context, c *Client, sessionID string, entries []session.Entry) ([]session.Entry, error) {
	var failed error
	loaded := map[string]string{}
	load := func(hash string) (string, bool) {
		if data, ok := loaded[hash]; ok {
			return data, true
		}
		data, err := Image(ctx, c, sessionID, hash)
		if err != nil {
			failed = fmt.Errorf("reading an image of the session: %w", err)
			return "", false
		}
		loaded[hash] = data
		return data, true
	}
	out := make([]session.Entry, len(entries))
	for i, entry := range entries {
		whole, err := entry.WithImageData(load)
		if err != nil {
			return nil, fmt.Errorf("restoring an image: %w", err)
		}
		if failed != nil {
			return nil, failed
		}
		out[i] = whole
	}
	return out, nil
}
