package logfile

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
)

// TestAReaderSeesEveryLineOnce: also while older lines are moved away.
func TestAReaderSeesEveryLineOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	reader := NewReader(path)
	log, err := Open(path, 300)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	log.Own()
	var got []string
	for i := range 200 {
		if _, err := fmt.Fprintf(log, "line %04d\n", i); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 || i == 199 {
			lines, err := reader.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
		}
	}
	if len(got) != 200 || got[0] != "line 0000" || got[199] != "line 0199" {
		t.Errorf("%d lines, %v", len(got), got)
	}
}

func TestLinesAreRead(t *testing.T) {
	for text, want := range map[string]Line{
		`time=T level=INFO msg="a b" session=s "k k"="x=\"1\""`: {"T", "INFO", "a b", map[string]string{"session": "s", "k k": `x="1"`}},
		`time=T level=INFO msg=a empty=`:                        {"T", "INFO", "a", map[string]string{"empty": ""}},
		`{"time":"T","level":"WARN","msg":"a","n":[1]}`:         {"T", "WARN", "a", map[string]string{"n": "[1]"}},
		`panic: x = y`: {Message: `panic: x = y`},
		`{"msg":`:      {Message: `{"msg":`},
		`msg="open`:    {Message: `msg="open`},
		``:             {},
	} {
		if got := Parse(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`time=T level=INFO msg="a b" "k"=v`)
	f.Add(`{"msg":"a"}`)
	f.Fuzz(func(_ *testing.T, text string) { _ = Parse(text).String() })
}
