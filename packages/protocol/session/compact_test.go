package session

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCompactIsThatOfTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { "a" : [ 1 , 2.50 , -0 ] , "b c" : " \" \\ \t\u0020 " }` + "\n", "[\r\n]", `"x  y"`, ` 1e5 `, `null`,
		``, ` `, `{`, `{} {}`, `{"a":1,}`, `"open`, `[1 2]`, `tru e`, "\"a\nb\"", `{"é" : " ü "}`, "\"\xff \" ",
	} {
		compactsLikeJSON(t, []byte(text))
	}
}

func FuzzCompact(f *testing.F) {
	f.Add([]byte(` { "a" : [ 1 , { "b" : "c \" d" } ] } `))
	f.Fuzz(compactsLikeJSON)
}

func compactsLikeJSON(t *testing.T, text []byte) {
	var want bytes.Buffer
	err := json.Compact(&want, text)
	got, ok := compact(bytes.Clone(text))
	switch {
	case ok != (err == nil):
		// encoding/json gives up on values that are nested very deep; ours does not.
		if !ok || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) < 10_000 {
			t.Fatalf("%q: ok is %v, encoding/json says %v", text, ok, err)
		}
	case ok && !bytes.Equal(got, want.Bytes()):
		t.Fatalf("%q became %q, want %q", text, got, want.Bytes())
	}
}
