package release_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/scorel/scorel/packages/release"
)

func newKey(t *testing.T) release.Key {
	t.Helper()
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestASignatureIsOfOneOfTheKeys(t *testing.T) {
	ours, next, other := newKey(t), newKey(t), newKey(t)
	data := []byte("an index")
	signature := release.Sign(ours, data, "scorel v1.0.0")
	keys := []string{release.PublicKey(next), release.PublicKey(ours)}
	if err := release.Verify(keys, data, signature); err != nil {
		t.Errorf("the signature of the second key: %v", err)
	}
	changed := []byte(strings.Replace(string(signature), "v1.0.0", "v9.0.0", 1))
	for name, err := range map[string]error{
		"another key":       release.Verify([]string{release.PublicKey(other)}, data, signature),
		"other data":        release.Verify(keys, []byte("an Index"), signature),
		"another comment":   release.Verify(keys, data, changed),
		"no signature":      release.Verify(keys, data, nil),
		"a huge signature":  release.Verify(keys, data, make([]byte, release.MaxIndex+1)),
		"no key":            release.Verify(nil, data, signature),
		"signature of none": release.Verify(keys, data, []byte("untrusted comment: x\nRWQ=\n")),
	} {
		if !errors.Is(err, release.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := release.Verify([]string{"not a key"}, data, signature); err == nil || errors.Is(err, release.ErrSignature) {
		t.Errorf("with an invalid key: %v", err)
	}
}

func TestAKeyIsReadFromMinisign(t *testing.T) {
	key := newKey(t)
	plain, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := release.ParseKey(plain, ""); err != nil || !got.Equal(key) {
		t.Errorf("reading a key: %v", err)
	}
	if _, err := release.ParseKey([]byte("hello"), ""); err == nil {
		t.Error("what is no key was accepted")
	}
}

func TestParseRejectsWhatNoReleaseHas(t *testing.T) {
	file := release.File{Name: "scorel_1.0.0_linux_amd64.tar.gz", Kind: release.KindArchive, OS: "linux", Arch: "amd64", Size: 1, SHA256: strings.Repeat("0", 64)}
	text := func(change func(*release.Index)) []byte {
		index := release.Index{Version: "v1.0.0", Files: []release.File{file}}
		change(&index)
		data, err := json.Marshal(index)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	index, err := release.Parse(text(func(*release.Index) {}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Archive("linux", "amd64"); err != nil {
		t.Error(err)
	}
	if _, err := index.Archive("plan9", "amd64"); !errors.Is(err, release.ErrNoArchive) {
		t.Errorf("for an unknown platform: %v", err)
	}
	for name, change := range map[string]func(*release.Index){
		"no version":       func(x *release.Index) { x.Version = "" },
		"not semantic":     func(x *release.Index) { x.Version = "1.0" },
		"a name in a path": func(x *release.Index) { x.Files[0].Name = "../scorel" },
		"an address":       func(x *release.Index) { x.Files[0].Name = "http://evil.example" },
		"no size":          func(x *release.Index) { x.Files[0].Size = 0 },
		"a huge size":      func(x *release.Index) { x.Files[0].Size = release.MaxFile + 1 },
		"half a checksum":  func(x *release.Index) { x.Files[0].SHA256 = "00" },
		"many files": func(x *release.Index) {
			for range 1001 {
				x.Files = append(x.Files, x.Files[0])
			}
		},
	} {
		if _, err := release.Parse(text(func(x *release.Index) { x.Files = []release.File{file}; change(x) })); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, data := range []string{"", "[]", "{", strings.Repeat(" ", release.MaxIndex+1)} {
		if _, err := release.Parse([]byte(data)); err == nil {
			t.Errorf("%.10q: accepted", data)
		}
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"v1.9.0", "v1.10.0", -1}, {"v1.0.0", "v1.0.0-rc.1", 1}, {"v1.0.0-rc.2", "v1.0.0-rc.10", -1}, {"v2.0.0", "v2.0.0", 0}} {
		if got := release.Compare(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d", c.a, c.b, got)
		}
	}
	for version, released := range map[string]bool{
		"v1.2.3": true, "v1.2.3-rc.1": true, "dev": false, "feff3f89": false, "v1.2.3-4-gfeff3f8": true, "v1.2.3+dirty": false, "": false,
	} {
		if release.Released(version) != released {
			t.Errorf("Released(%q) is %v", version, !released)
		}
	}
}
