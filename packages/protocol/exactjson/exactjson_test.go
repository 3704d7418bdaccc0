package exactjson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

type inner struct {
	Deep string `json:"deep"`
}

type embedded struct {
	Shared string `json:"shared"`
}

type outer struct {
	embedded
	SessionID string            `json:"sessionId"`
	Kind      string            `json:"kind"`
	Inner     inner             `json:"inner"`
	List      []inner           `json:"list"`
	Map       map[string]*inner `json:"map"`
	Raw       json.RawMessage   `json:"raw"`
	Any       any               `json:"any"`
	Untagged  int
}

// Keys are those that are written, and no others: what differs in case is not known.
func TestKeysAreMatchedExactly(t *testing.T) {
	for text, want := range map[string]outer{
		`{"sessionId":"a","kind":"k","shared":"s","Untagged":1}`:       {SessionID: "a", Kind: "k", embedded: embedded{"s"}, Untagged: 1},
		`{"SessionID":"a","KIND":"k","Shared":"s","untagged":1}`:       {},
		`{"sessionId":"a","SESSIONID":"b"}`:                            {SessionID: "a"},
		`{"SESSIONID":"b" , "sessionId" : "a"}`:                        {SessionID: "a"},
		`{"\u0053essionId":"a","\u0073essionId":"b"}`:                  {SessionID: "b"},
		"{\"\u212aind\":\"k\"}":                                        {}, // the sign of Kelvin folds to k
		`{"inner":{"Deep":"x"},"list":[{"Deep":"x"},{"deep":"y"}]}`:    {List: []inner{{}, {"y"}}},
		`{"map":{"A":{"deep":"1"},"a":{"DEEP":"2"}}}`:                  {Map: map[string]*inner{"A": {"1"}, "a": {}}},
		`{"raw":{"Deep":"x"},"any":{"Kind":"k"}}`:                      {Raw: json.RawMessage(`{"Deep":"x"}`), Any: map[string]any{"Kind": "k"}},
		`{"unknown":{"sessionId":"a","kind":["]","}"]},"kind":"last"}`: {Kind: "last"},
	} {
		var got outer
		if err := exactjson.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v %v\nwant %+v", text, got, err, want)
		}
	}
}

// A file of our own with such a key is an error that names both.
func TestStrictNamesTheKey(t *testing.T) {
	var got outer
	for text, want := range map[string]string{
		`{"Kind":"k"}`:              `the key "Kind" must be written "kind"`,
		`{"list":[{"DEEP":"k"}]}`:   `the key "DEEP" must be written "deep"`,
		` null`:                     "found null instead of an object",
		`{"kind":"k"} x`:            "invalid character",
		`{"kind":`:                  "unexpected end",
		``:                          "unexpected end",
		`{"map":{"x":{"Deep":""}}}`: `the key "Deep" must be written "deep"`,
	} {
		if err := exactjson.Strict([]byte(text), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if err := exactjson.Strict([]byte(`{"kind":"k","new":{"Kind":1}}`), &got); err != nil || got.Kind != "k" {
		t.Errorf("got %+v, %v", got, err)
	}
	var list []inner
	if err := exactjson.Strict([]byte("null"), &list); err == nil || !strings.Contains(err.Error(), "a list") {
		t.Errorf("got %v", err)
	}
}

func TestDeeperThan(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `"[[["`: 0, `"\"[["`: 0, `{}`: 1, `[[],[]]`: 2, `{"a":[{"b":"]"}]}`: 3,
		strings.Repeat("[", 20000): 20000,
	} {
		if exactjson.DeeperThan([]byte(text), want) || want > 0 && !exactjson.DeeperThan([]byte(text), want-1) {
			t.Errorf("%.40s is not %d deep", text, want)
		}
	}
}

// What is decoded is what encoding/json makes of a text whose keys are all exact, and
// nothing that is odd is more than an error.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{`{"sessionId":"a","list":[{"deep":"x"}]}`, `{"Kind":1}`, `[`, `{"a"`, `{"inner":{"Deep":[[{`, `{"a":]}`, `{]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want outer
		err := exactjson.Unmarshal(data, &got)
		if (err == nil) != (json.Unmarshal(data, &want) == nil) && err != nil {
			t.Fatalf("%q: %v, but encoding/json takes it", data, err)
		}
		if exactjson.Strict(data, &outer{}) == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %+v, want %+v", data, got, want)
		}
		if err == nil {
			again, marshalErr := json.Marshal(got)
			var second outer
			if marshalErr != nil || exactjson.Strict(again, &second) != nil {
				t.Fatalf("%q became %q", data, again)
			}
		}
	})
}

func BenchmarkUnmarshal(b *testing.B) {
	text := []byte(`{"sessionId":"a","kind":"k","inner":{"deep":"x"},"list":[{"deep":"x"},{"deep":"y"}]}`)
	for name, read := range map[string]func([]byte, any) error{"exact": exactjson.Unmarshal, "json": json.Unmarshal} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var v outer
				if err := read(text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
