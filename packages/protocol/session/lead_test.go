package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// read says all that the parser notes of a line. shift is how much later in the
// line everything stands.
func read(line string, shift uint32) string {
	var e Entry
	p := lineParser{lastID: "before"}
	if !p.parse(&e, []byte(line)) {
		return "no object"
	}
	if e.body > 0 {
		e.body, e.bodyEnd = e.body-shift, e.bodyEnd-shift
	}
	e.Raw = nil
	return fmt.Sprintf("%+v", e)
}

// A blank behind the first brace keeps a line from being read by its usual
// beginning, and changes nothing of what it says.
func FuzzLead(f *testing.F) {
	const begin = `{"type":"message","id":"a","parentId":"before","timestamp":"t","message":{"role":"user"`
	for _, end := range []string{
		`,"content":[]}}`, `}}`, `x}}`, `},"id":"b","type":"label","parentId":7,"timestamp":3,"message":null}`, `,"role":"assistant","content":null}}`,
		`},"seq":9,"customType":"c"}`, `}} `, `}}}`, ``,
	} {
		f.Add(begin + end)
		f.Add(strings.ReplaceAll(begin+end, `:"`, `: "`))
		f.Add(strings.Replace(begin+end, `"before"`, "null", 1))
		f.Add(strings.Replace(begin+end, `"user"`, `"user\u0020"`, 1))
		f.Add(strings.Replace(begin+end, `"timestamp":"t",`, "", 1))
	}
	for _, line := range []string{`{"type":"message"}`, `{"type":"message",}`, `{"type":"message","id":`, `{"type":"message"x`, `{"type":"message","id":1,"parentId":[]}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rest, ok := strings.CutPrefix(line, "{")
		if !ok {
			return
		}
		if got, want := read(line, 0), read("{ "+rest, 1); got != want {
			t.Errorf("%q is read as\n%s, with a blank as\n%s", line, got, want)
		}
		var e Entry
		p := lineParser{}
		if !p.parse(&e, []byte(line)) || !isObject(e.message()) {
			return
		}
		want := roleOther
		if value := member(e.message(), "role"); value != nil {
			want = roleOf(value)
		}
		if e.role != want {
			t.Errorf("%q: the role is %d, want %d", line, e.role, want)
		}
	})
}

// full takes so many bytes and no more.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestInspectionTellsThatItWasNotWritten(t *testing.T) {
	f, err := ReadFile([]byte(`{"type":"session","version":3,"id":"s","timestamp":"","cwd":""}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"` + strings.Repeat("long ", 50_000) + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	in, err := f.Inspect("a")
	if err != nil {
		t.Fatal(err)
	}
	size := len(in.JSON())
	for _, room := range []int{0, 1 << 17, size - 1} {
		if err := in.Write(&full{room}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("with room for %d of %d bytes: %v", room, size, err)
		}
	}
	if err := in.Write(&full{size}); err != nil {
		t.Error(err)
	}
}
