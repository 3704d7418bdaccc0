package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestGolden decodes and encodes the JSON files of another implementation. What was decoded is
// encoded from its fields, not from Raw, so that a field with another name is noticed.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v := typeOf(name)
			if err := json.Unmarshal(data, v); err != nil {
				t.Fatal(err)
			}
			kept, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "kept", kept, data)
			forget(reflect.ValueOf(v))
			encoded, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "encoded", encoded, data)
		})
	}
}

func typeOf(name string) any {
	switch {
	case strings.HasPrefix(name, "content_"):
		return &ContentBlock{}
	case strings.HasPrefix(name, "session_update_"):
		return &Update{}
	case strings.HasPrefix(name, "tool_content_"):
		return &ToolContent{}
	case strings.HasPrefix(name, "permission_outcome_"):
		return &PermissionOutcome{}
	}
	return map[string]any{
		"cancel_notification": &SessionRequest{}, "initialize_request": &InitializeRequest{}, "initialize_response": &InitializeResponse{},
		"new_session_request": &NewSessionRequest{}, "new_session_response": &SessionState{}, "prompt_request": &PromptRequest{},
		"request_permission_request": &PermissionRequest{}, "request_permission_response_selected": &PermissionResponse{},
		"fs_read_text_file_request": &ReadTextFileRequest{}, "fs_read_text_file_response": &ReadTextFileResponse{},
		"fs_write_text_file_request": &WriteTextFileRequest{},
	}[name]
}

// forget sets every Raw below v to nil.
func forget(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			forget(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Raw" {
				v.Field(i).SetZero()
			} else if v.Field(i).CanSet() {
				forget(v.Field(i))
			}
		}
	}
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	prune(g)
	prune(w)
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

// prune removes objects without content, and false: optional fields that are there or not
// without a difference.
func prune(v any) bool {
	object, ok := v.(map[string]any)
	if list, isList := v.([]any); isList {
		for _, element := range list {
			prune(element)
		}
		return false
	}
	if !ok {
		return v == false
	}
	for key, value := range object {
		if prune(value) {
			delete(object, key)
		}
	}
	return len(object) == 0
}
