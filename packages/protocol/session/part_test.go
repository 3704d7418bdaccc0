package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzParts reads files in parts, and as one.
func FuzzParts(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "pi", "*.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatal("there are no files of Pi", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(3))
	}
	const begin = "\n{\r\n{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"
	for _, end := range []string{
		"", "\n", "\n\n\n\n", "{}", "{", "{\n", "{\n{}\n{\n{}\n{", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12",
		"{\"id\":\"a\"}\n{\"type\":\"session\",\"id\":\"b\"}\nnull\n{\"id\":\"c\",\"parentId\":\"a\"}\nx\n{\"id\":\"d\",\"parentId\":\"c\"}\n\xff\n{\"id\":\"\xe2\x82\"}",
	} {
		f.Add([]byte(begin+end), uint8(4))
	}
	f.Fuzz(func(t *testing.T, data []byte, parts uint8) {
		one, err := readFile(bytes.Clone(data), 1)
		several, again := readFile(data, 1+int(parts%16))
		if err != again {
			t.Fatalf("%v, in parts %v", err, again)
		}
		if err != nil {
			return
		}
		if got, want := readAs(several), readAs(one); got != want {
			t.Errorf("%q in %d parts is\n%s, as one\n%s", data, 1+parts%16, got, want)
		}
		if !reflect.DeepEqual(several.Tree.entries, one.Tree.entries) {
			t.Errorf("%q in %d parts has other entries", data, 1+parts%16)
		}
	})
}

func readAs(f *File) string {
	in, err := f.Inspect("")
	return fmt.Sprintf("%+v %s %v %v %d %v\n%s %v %v", f.Header, f.HeaderLine, f.Migrated, f.Damage, f.Whole, f.Torn, in.JSON(), in.Hole, err)
}

// A file that is long enough to be read in parts.
func TestLongFilesAreReadInParts(t *testing.T) {
	if partsOf(partBytes-1) != 1 || partsOf(100*partBytes) > maxParts {
		t.Error("the number of parts does not fit the size")
	}
	data := []byte(`{"type":"session","version":3,"id":"s"}` + "\n")
	entries := 0
	for parent := "null"; len(data) < 3*partBytes; entries++ {
		data = fmt.Appendf(data, `{"type":"message","id":"%08x","parentId":%s,"message":{"role":"user","content":"%d"}}`+"\n", entries, parent, entries)
		parent = fmt.Sprintf(`"%08x"`, entries)
		if entries%1000 == 0 {
			data = append(data, "not an entry\n"...)
		}
	}
	for _, parts := range []int{1, 2, 3, 7} {
		f, err := readFile(data, parts)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Tree.LeafContext().Messages); n != entries || len(f.Damage) != (entries+999)/1000 || f.Whole != len(data) {
			t.Errorf("in %d parts: %d messages of %d entries, %d lines are damaged, %d bytes of %d", parts, n, entries, len(f.Damage), f.Whole, len(data))
		}
		for i, damage := range f.Damage {
			if damage.Line != 3+i*1001 {
				t.Fatalf("in %d parts: damage %d is in line %d", parts, i, damage.Line)
			}
		}
	}
}
