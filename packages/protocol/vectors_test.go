package protocol_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// The files under testdata/vectors are what every implementation must agree
// with. Each has a function that makes its content from fixed inputs; the normal
// run compares, and checks that the Go code agrees with each case.
//
//	go test . -run TestVectors -update
var update = flag.Bool("update", false, "rewrite testdata/vectors")

func checkFile(t *testing.T, name string, content any) {
	t.Helper()
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(content); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "vectors", name)
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is stale: the code makes something else now. If the wire is meant to change, run: go test . -run TestVectors -update", path)
	}
}

// run returns the n bytes start, start+1, ...
func run(start, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(start + i)
	}
	return out
}

func testKeys(t testing.TB, kind ident.Kind, start int) *ident.Private {
	t.Helper()
	keys, err := ident.ImportSecret(kind, run(start, 2*ident.KeyLen))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// party is one side of a vector. Secret is the Ed25519 seed, then the X25519
// scalar, in hex.
type party struct {
	Kind    ident.Kind       `json:"kind"`
	Secret  string           `json:"secret"`
	SignKey ident.SignPublic `json:"signKey"`
	SealKey ident.SealPublic `json:"sealKey"`
	ID      ident.ID         `json:"id"`
}

func partyOf(keys *ident.Private) party {
	return party{keys.ID().Kind(), hex.EncodeToString(keys.ExportSecret()), keys.Public().Sign, keys.Public().Seal, keys.ID()}
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// bad is an input that every implementation refuses.
type bad struct {
	Why   string `json:"why"`
	Input string `json:"input"`
}

// sortBad makes the order of cases that come from a map the same in every run.
func sortBad(cases []bad) []bad {
	slices.SortFunc(cases, func(a, b bad) int { return strings.Compare(a.Why, b.Why) })
	return cases
}
