package session

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

const bareHeader = `{"type":"session","version":3,"id":"s"}` + "\n"

// TestTinyLinesCostLittle: a file of millions of lines that hold next to nothing takes some
// bytes of memory for each, whatever the lines are. What is thrown away is counted too.
func TestTinyLinesCostLittle(t *testing.T) {
	const lines = 200_000
	for line, most := range map[string]uint64{"{}": 230, "1": 320, "x": 130, "": 1, `{"id":"a","parentId":"a"}`: 250} {
		data := []byte(bareHeader + strings.Repeat(line+"\n", lines))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := readFile(data, 2)
		if err != nil {
			t.Fatal(err)
		}
		in, err := f.Inspect("")
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if per := (after.TotalAlloc - before.TotalAlloc) / lines; per > most {
			t.Errorf("%d bytes for each line %q, want %d at most", per, line, most)
		}
	}
}

// TestShapesNobodyWrites: nothing hangs or is changed by files that no program writes, and
// what reads around the odd part is read.
func TestShapesNobodyWrites(t *testing.T) {
	entry := func(id, parent string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"user","content":"x"}}`
	}
	first, last := entry("a", "null"), entry("b", `"a"`)
	const levels = 1_000_000
	deep := strings.Repeat("[", levels)
	custom := func(data string) string { return `{"type":"custom","id":"c","parentId":"a","data":` + data + `}` }
	for name, test := range map[string]struct {
		text   string
		ids    string
		damage int
	}{
		"a long text that is no JSON": {bareHeader + first + "\n" + strings.Repeat("z", 20<<20) + "\n" + last + "\n", "a b", 1},
		"a long entry":                {bareHeader + first + "\n" + custom(`"`+strings.Repeat("z", 20<<20)+`"`) + "\n", "a c", 0},
		"a million levels":            {bareHeader + first + "\n" + custom(deep+strings.Repeat("]", levels)) + "\n" + last + "\n", "a c b", 0},
		"levels that stay open":       {bareHeader + first + "\n" + deep + "\n" + last + "\n", "a b", 1},
		"objects that stay open":      {bareHeader + first + "\n" + strings.Repeat(`{"a":`, levels) + "\n" + last + "\n", "a b", 1},
		"a million blank lines":       {bareHeader + strings.Repeat("\n", 1_000_000) + first + strings.Repeat("\r\n", 1_000_000) + last + "\n", "a b", 0},
		"zero bytes":                  {bareHeader + first + "\n" + strings.Repeat("\x00", 1<<20) + "\n" + last + "\n", "a b", 1},
		"a zero byte in a text":       {bareHeader + first + "\n" + `{"id":"` + "\x00" + `"}` + "\n" + last, "a b", 1},
		"half of a pair":              {bareHeader + entry(`\ud800`, "null") + "\n" + entry("b", `"\ud800"`) + "\n", "\xed\xa0\x80 b", 0},
		"a key twice":                 {bareHeader + `{"id":"x","parentId":"y","id":"a","parentId":null}` + "\n" + last + "\n", "a b", 0},
		"CR LF":                       {strings.ReplaceAll(bareHeader+first+"\n"+last+"\n", "\n", "\r\n"), "a b", 0},
		"no LF at the end":            {bareHeader + first + "\n" + last, "a b", 0},
	} {
		for _, parts := range []int{1, 5} {
			data := []byte(test.text)
			f, err := readFile(data, parts)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if string(data) != test.text {
				t.Errorf("%s: the bytes were changed", name)
			}
			var ids []string
			for _, e := range f.Tree.Entries() {
				ids = append(ids, e.ID)
			}
			if got := strings.Join(ids, " "); got != test.ids || len(f.Damage) != test.damage {
				t.Errorf("%s: entries %q, damage %.200v", name, got, f.Damage)
			}
			in, err := f.Inspect("")
			if err != nil || in.Hole != nil || in.Write(io.Discard) != nil {
				t.Errorf("%s: %v %v", name, err, in.Hole)
			}
			if n := len(f.Tree.Forest()); n != f.Tree.Roots() || n != 1 {
				t.Errorf("%s: %d roots, counted as %d", name, n, f.Tree.Roots())
			}
		}
	}
}

// TestUTF16IsNoSession: in neither order, with or without its mark.
func TestUTF16IsNoSession(t *testing.T) {
	for _, order := range []string{"%s\x00", "\x00%s"} {
		text := ""
		for _, c := range bareHeader {
			text += fmt.Sprintf(order, string(c))
		}
		for _, mark := range []string{"", "\xff\xfe", "\xfe\xff"} {
			if _, err := ReadFile([]byte(mark + text)); err != ErrNotSession {
				t.Errorf("%q: %v", (mark + text)[:8], err)
			}
		}
	}
}
