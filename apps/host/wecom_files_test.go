package host_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

type weComUpload struct {
	kind, name, sum string
	size, parts     int
	data            map[int][]byte
}

type weComMedia struct {
	ID string `json:"media_id"`
}

func (f *weCom) upload(in weComFrame) (int, map[string]any) {
	var b struct {
		Type   string `json:"type"`
		Name   string `json:"filename"`
		Size   int    `json:"total_size"`
		Chunks int    `json:"total_chunks"`
		MD5    string `json:"md5"`
		ID     string `json:"upload_id"`
		Index  *int   `json:"chunk_index"`
		Data   []byte `json:"base64_data"`
	}
	if err := json.Unmarshal(in.Body, &b); err != nil {
		return 40001, nil
	}
	if in.Cmd == "aibot_upload_media_init" {
		most := map[string]int{"file": 20 << 20, "image": 10 << 20}[b.Type]
		if b.Name == "" || b.Size <= 0 || b.Size > most || b.Chunks < 1 || b.Chunks > 100 {
			return 40009, nil
		}
		f.ids++
		id := fmt.Sprint("upload", f.ids)
		f.uploads[id] = &weComUpload{b.Type, b.Name, b.MD5, b.Size, b.Chunks, map[int][]byte{}}
		return 0, map[string]any{"upload_id": id}
	}
	u := f.uploads[b.ID]
	if u == nil {
		return 40007, nil
	}
	if in.Cmd == "aibot_upload_media_chunk" {
		if b.Index == nil || *b.Index < 0 || *b.Index >= u.parts || len(b.Data) == 0 || len(b.Data) > 512<<10 {
			return 40009, nil
		}
		u.data[*b.Index] = b.Data
		return 0, nil
	}
	var all []byte
	for n := range u.parts {
		all = append(all, u.data[n]...)
	}
	if sum := md5.Sum(all); len(all) != u.size || hex.EncodeToString(sum[:]) != u.sum {
		return 40009, nil
	}
	f.ids++
	id := fmt.Sprint("media", f.ids)
	f.files[id] = all
	return 0, map[string]any{"type": u.kind, "media_id": id, "created_at": "1380000000"}
}

// encrypt stores a file as people's files are stored, and returns its address and key.
func (f *weCom) encrypt(data []byte) (url, key string) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	padding := 32 - len(data)%32
	plain := append(append([]byte(nil), data...), strings.Repeat(string(rune(padding)), padding)...)
	block, err := aes.NewCipher(secret)
	if err != nil {
		f.t.Fatal(err)
	}
	cipher.NewCBCEncrypter(block, secret[:16]).CryptBlocks(plain, plain)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	name := fmt.Sprint("in", f.ids)
	f.files[name] = plain
	return f.server.URL + "/file/" + name, base64.StdEncoding.EncodeToString(secret)
}
