package protocol_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// nullSamples has a field of each kind that a request can have.
type nullSamples struct {
	Text     string            `json:"text,omitempty"`
	Number   int64             `json:"number,omitempty"`
	Flag     bool              `json:"flag,omitempty"`
	Object   api.QueueItem     `json:"object" req:"optional"`
	Level    api.Mode          `json:"level,omitempty"`
	Required []string          `json:"required"`
	Optional []string          `json:"optional,omitempty"`
	Objects  []api.QueueItem   `json:"objects,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
	Choice   *bool             `json:"choice,omitempty"`
	Rest     *api.QueueItem    `json:"rest,omitempty"`
}

// TestNullInRequests: null is an empty required list, and absent in the other fields
// that accept it. It is refused everywhere else.
func TestNullInRequests(t *testing.T) {
	schema := api.SchemaOf(api.Define[nullSamples, api.Empty]("sample", api.GrantView, ""))
	for field, accepted := range map[string]bool{
		`"text":null`: false, `"number":null`: false, `"flag":null`: false, `"object":null`: false, `"level":null`: false,
		`"optional":[null]`: false, `"objects":[null]`: false, `"objects":[{"clientKey":null}]`: false,
		`"meta":{"key":null}`: false, `"rest":{"clientKey":null}`: false,
		`"required":null`: true, `"optional":null`: true, `"meta":null`: true, `"choice":null`: true, `"rest":null`: true,
	} {
		body := `{` + field + `}`
		if !strings.HasPrefix(field, `"required"`) {
			body = `{"required":[],` + field + `}`
		}
		err := schema.Check([]byte(body), true)
		if (err == nil) != accepted || err != nil && err.Kind != api.KindBadRequest {
			t.Errorf("%s: %v", body, err)
		}
		var got nullSamples
		if err := exactjson.Unmarshal([]byte(body), &got); accepted && (err != nil || len(got.Required) > 0) {
			t.Errorf("%s: %v", body, err)
		}
		if got.Required = nil; accepted && !reflect.DeepEqual(got, nullSamples{}) {
			t.Errorf("%s is read as %+v", body, got)
		}
	}
}

// TestDocsNameWhereNullIsAbsent compares the fields that accept null with section 10.
func TestDocsNameWhereNullIsAbsent(t *testing.T) {
	_, text, _ := strings.Cut(protocolText(t), "\n- In a request, `null`")
	text, _, _ = strings.Cut(text, "\n- ")
	text = strings.Join(strings.Fields(text), " ")
	for _, spec := range api.Table() {
		names := nullFields(reflect.TypeOf(spec.Request))
		slices.Sort(names)
		for i, name := range names {
			names[i] = "`" + name + "`"
		}
		want := "`" + spec.Name + "`"
		if n := len(names); n > 1 {
			want = strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " of " + want
		} else if n == 1 {
			want = names[0] + " of " + want
		}
		if strings.Contains(text, want) != (len(names) > 0) {
			t.Errorf("docs/protocol.md, section 10: the paragraph about null disagrees with the code about %s", want)
		}
	}
}

// nullFields returns the names of the pointers and maps of a request, which accept null
// as lists do.
func nullFields(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		own := reflect.PointerTo(f.Type)
		switch kind := f.Type.Kind(); {
		case kind == reflect.Pointer || kind == reflect.Map:
			names = append(names, name)
		case kind == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			names = append(names, nullFields(f.Type.Elem())...)
		case kind == reflect.Struct && !own.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && !own.Implements(reflect.TypeFor[json.Unmarshaler]()):
			names = append(names, nullFields(f.Type)...)
		}
	}
	return names
}
