package session

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestDates reads dates that TypeScript reads too; null is an unknown date.
func TestDates(t *testing.T) {
	data, err := os.ReadFile("testdata/dates.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden [][2]any
	if err := json.Unmarshal(data, &golden); err != nil || len(golden) < 45 {
		t.Fatalf("%d dates, %v", len(golden), err)
	}
	for _, c := range golden {
		want := int64(unknownDate)
		if ms, ok := c[1].(float64); ok {
			want = int64(ms)
		}
		if got := parseDate(c[0].(string)); got != want {
			t.Errorf("the date %q is %d, want %d", c[0], got, want)
		}
	}
}

// TestAsJavaScript holds JSON texts to what node makes of them.
func TestAsJavaScript(t *testing.T) {
	data, err := os.ReadFile("testdata/javascript.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Texts [][2]string `json:"texts"`
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Texts) < 20 {
		t.Fatalf("%d texts, %v", len(golden.Texts), err)
	}
	for _, c := range golden.Texts {
		if got, err := Stringify([]byte(c[0])); err != nil || string(got) != c[1] {
			t.Errorf("%s is written as %s, want %s (%v)", c[0], got, c[1], err)
		}
	}
}

func TestStringifyRefuses(t *testing.T) {
	for _, text := range []string{"", " ", "{", `{"a"}`, `{"a":1,}`, "[1,]", "[,]", "01", "1.", ".5", "+1", "1e", "tru", "nul", `"`, `"\x"`, `"\u12"`, "\"\n\"", "1 2", "{}}", "NaN", `{a:1}`} {
		if out, err := Stringify([]byte(text)); err == nil {
			t.Errorf("%q is written as %s", text, out)
		}
	}
	deep := strings.Repeat("[", 100*maxNesting) + strings.Repeat("]", 100*maxNesting)
	if _, ok := skipValue([]byte(deep), 0); ok {
		t.Error("a nesting without end is scanned")
	}
	if _, err := Stringify([]byte(deep)); err == nil {
		t.Error("a nesting without end is written")
	}
}

func TestEncodeLeavesSeparators(t *testing.T) {
	text, err := Encode(map[string]any{"a": "\u2028\u2029<&>\ufffd\x7f\\u2028", "raw": json.RawMessage(`"\ud800 \\u2028 \u2028"`)})
	want := "{\"a\":\"\u2028\u2029<&>\ufffd\x7f\\\\u2028\",\"raw\":\"\\ud800 \\\\u2028 \u2028\"}"
	if err != nil || string(text) != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
}

// FuzzScan holds the scanner to encoding/json, and unquote to appendQuoted.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,{"b":null}],"c":"\ud83d\ude00\u00e9"}`, `[[[]],{}]`, `"\\\"" `, "01", `{"a":1,}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		start := skipSpace(text, 0)
		end, ok := skipValue(text, start)
		ok = ok && skipSpace(text, end) == len(text)
		if ok != json.Valid(text) && strings.Count(string(text), "[")+strings.Count(string(text), "{") < 9000 {
			t.Fatalf("%q: valid is %v here", text, ok)
		}
		if !ok {
			return
		}
		once, err := Stringify(text)
		if err != nil {
			return
		}
		if twice, err := Stringify(once); err != nil || string(twice) != string(once) {
			t.Errorf("%q, then %q (%v)", once, twice, err)
		}
	})
}
