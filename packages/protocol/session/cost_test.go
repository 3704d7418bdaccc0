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
		f, err := ReadFile(data)
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

// TestShapesNoProgramWrites: nothing hangs or is changed by files that no program writes, and
// what reads around the odd part is read.
func TestShapesNoProgramWrites(t *testing.T) {
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
		"a million levels":            {bareHeader + first + "\n" + custom(deep+strings.Repeat("]", levels)) + "\n" + last + "\n", "a c b", 1},
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
		data := []byte(test.text)
		f, err := ReadFile(data)
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
		if n := len(f.Tree.Forest().Roots); n != 1 {
			t.Errorf("%s: %d roots", name, n)
		}
	}
}

// TestLongFile reads a file that is checked for valid UTF-8 piece by piece.
func TestLongFile(t *testing.T) {
	data := []byte(bareHeader)
	entries := 0
	for parent := "null"; len(data) < 20*validAhead; entries++ {
		data = fmt.Appendf(data, `{"type":"message","id":"%08x","parentId":%s,"message":{"role":"user","content":"%d"}}`+"\n", entries, parent, entries)
		parent = fmt.Sprintf(`"%08x"`, entries)
		if entries%1000 == 0 {
			data = append(data, "not an entry\xff\n"...)
		}
	}
	f, err := ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Tree.LeafContext().Messages); n != entries || len(f.Damage) != (entries+999)/1000 || f.Whole != len(data) {
		t.Errorf("%d messages of %d entries, %d lines are damaged, %d bytes of %d", n, entries, len(f.Damage), f.Whole, len(data))
	}
	for i, damage := range f.Damage {
		if damage.Line != 3+i*1001 {
			t.Fatalf("damage %d is in line %d", i, damage.Line)
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
