package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// decodeArgs decodes the arguments of a call into a struct with json tags. Fields whose tag
// lacks omitempty are required. The error is a sentence for the model.
func decodeArgs(raw json.RawMessage, into any) error {
	known, required := fieldsOf(into)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	for _, name := range sortedKeys(given) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown argument %q; the arguments are: %s", name, strings.Join(known, ", "))
		}
	}
	for _, name := range required {
		if value, ok := given[name]; !ok || string(value) == "null" {
			return fmt.Errorf("the argument %q is missing", name)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields() // also rejects keys that differ only in case
	if err := decoder.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("the argument %q must be a %s, not a %s", wrong.Field, jsonName(wrong.Type), wrong.Value)
		}
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the JSON object")
	}
	return nil
}

func fieldsOf(into any) (known, required []string) {
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known = append(known, name)
		if option == "" {
			required = append(required, name)
		}
	}
	return known, required
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "whole number"
	case reflect.Bool:
		return "boolean"
	}
	return t.Kind().String()
}
