package push

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write testdata")

// sealedFile is a notification as it is sent, with the keys of the browser that it is for.
type sealedFile struct {
	Private string `json:"private"` // of the browser, in base64url like all others
	Auth    string `json:"auth"`
	Content string `json:"content"` // in plain text
	Body    string `json:"body"`
}

// TestAnotherImplementationReadsIt: testdata/sealed.json is what seal makes of a notification. A
// test of the web UI (apps/web/src/api/push-payload.test.ts) decrypts it with a library that is
// not ours.
func TestAnotherImplementationReadsIt(t *testing.T) {
	browser, err := ecdh.P256().NewPrivateKey(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := ecdh.P256().NewPrivateKey(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	secret, salt := bytes.Repeat([]byte{3}, secretBytes), bytes.Repeat([]byte{5}, secretBytes)
	const content = `{"v":1,"kind":"approval","title":"Größe 大小","text":"go test ./..."}`
	body, err := sealWith([]byte(content), paddedBytes-len(content), recipient{browser.PublicKey(), secret}, sender, salt)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(sealedFile{encode(browser.Bytes()), encode(secret), content, encode(body)}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "sealed.json")
	if *update {
		if err := os.WriteFile(path, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(bytes.TrimSpace(have), want) {
		t.Fatalf("%s is not what is sent (%v): run go test ./internal/push -run AnotherImplementation -update, then the test of the web UI", path, err)
	}
}
