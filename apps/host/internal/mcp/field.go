package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of a form.
const (
	maxFields  = 8
	maxOptions = 50
	maxTries   = 3 // answers to a field that do not fit, before the form is canceled
	maxLabel   = 200
)

// Choices that stand for a value.
const (
	choiceYes   = "Yes"
	choiceNo    = "No"
	choiceEmpty = "Leave empty"
)

// option is a value to choose.
type option struct{ value, title string }

// field is one property of a form.
type field struct {
	name, title, description string
	kind                     string // "string", "number", "integer", "boolean", "array"
	format                   string
	required                 bool
	options                  []option
	minimum, maximum         *float64
	shortest, longest        *int // of a text, in characters; of an array, in items
	initial                  string
}

// property is a property as servers write it: of the revisions since 2025-06-18.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []titled        `json:"oneOf"`
	AnyOf       []titled        `json:"anyOf"`
	Items       *property       `json:"items"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Default     json.RawMessage `json:"default"`
}

type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// fieldsOf reads the fields of a schema: required ones first, then by name.
func fieldsOf(schema any) ([]field, error) {
	data, err := json.Marshal(schema)
	if err != nil || len(data) > maxSchema {
		return nil, errors.New("its form is too large")
	}
	var form struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, errors.New("its form cannot be read")
	}
	if len(form.Properties) > maxFields {
		return nil, fmt.Errorf("its form has %d fields, the limit is %d", len(form.Properties), maxFields)
	}
	var fields []field
	for name, p := range form.Properties {
		f := field{
			name: name, title: label(p.Title), description: label(p.Description), kind: p.Type, format: p.Format, required: slices.Contains(form.Required, name),
			options: p.options(), minimum: p.Minimum, maximum: p.Maximum, shortest: p.MinLength, longest: p.MaxLength,
		}
		if p.Type == "array" {
			f.shortest, f.longest = p.MinItems, p.MaxItems
			if p.Items != nil {
				f.options = p.Items.options()
			}
		}
		if f.title == "" {
			f.title = label(name)
		}
		if len(f.options) > maxOptions {
			return nil, fmt.Errorf("a field of its form has %d options, the limit is %d", len(f.options), maxOptions)
		}
		f.initial = f.defaultOf(p.Default)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b field) int {
		if a.required != b.required {
			return map[bool]int{true: -1, false: 1}[a.required]
		}
		return strings.Compare(a.name, b.name)
	})
	return fields, nil
}

func label(text string) string {
	return visible.Shorten(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxLabel)
}

func (p property) options() (list []option) {
	for i, value := range p.Enum {
		title := value
		if i < len(p.EnumNames) {
			title = p.EnumNames[i]
		}
		list = append(list, option{value, label(title)})
	}
	for _, one := range append(slices.Clone(p.OneOf), p.AnyOf...) {
		title := one.Title
		if title == "" {
			title = one.Const
		}
		list = append(list, option{one.Const, label(title)})
	}
	return list
}

// defaultOf returns a default as an answer, or "".
func (f field) defaultOf(raw json.RawMessage) string {
	var text string
	var number json.Number
	var yes bool
	switch {
	case len(raw) == 0 || f.kind == "array":
		return ""
	case f.kind == "boolean" && json.Unmarshal(raw, &yes) == nil:
		return map[bool]string{true: choiceYes, false: choiceNo}[yes]
	case f.kind == "string" && json.Unmarshal(raw, &text) == nil:
		for _, o := range f.options {
			if o.value == text {
				return o.title
			}
		}
		return visible.Shorten(text, maxLabel)
	case json.Unmarshal(raw, &number) == nil:
		return number.String()
	}
	return ""
}

// question asks for a field. problem is what was wrong with the last answer.
func (f field) question(message string, i, of int, problem string) agent.Question {
	var b strings.Builder
	if problem != "" {
		fmt.Fprintf(&b, "The answer does not fit: %s.\n\n", problem)
	}
	b.WriteString(message + "\n\n")
	if of > 1 {
		fmt.Fprintf(&b, "%d of %d. ", i+1, of)
	}
	b.WriteString(f.title)
	if f.description != "" {
		b.WriteString(": " + f.description)
	}
	var choices []string
	switch {
	case f.kind == "boolean":
		choices = []string{choiceYes, choiceNo}
	case f.kind == "array":
		b.WriteString("\nAnswer with one or more of these, separated by commas:")
	case len(f.options) > 0 && len(f.options) < agent.MaxChoices:
		for _, o := range f.options {
			choices = append(choices, o.title)
		}
	case len(f.options) > 0:
		b.WriteString("\nAnswer with one of these, or its number:")
	case f.initial != "":
		choices = []string{f.initial}
	}
	if f.kind == "array" || len(f.options) > 0 && len(choices) == 0 {
		for n, o := range f.options {
			fmt.Fprintf(&b, "\n%d. %s", n+1, o.title)
		}
	}
	if f.initial != "" && !slices.Contains(choices, f.initial) {
		choices = append(choices, f.initial)
	}
	if !f.required {
		choices = append(choices, choiceEmpty)
	}
	return agent.Question{Text: strings.TrimSpace(b.String()), Choices: slices.Compact(choices)}
}

// parse reads an answer; nil leaves the field empty. The error is a part of a sentence.
func (f field) parse(answer string) (any, error) {
	answer = strings.TrimSpace(answer)
	if !f.required && strings.EqualFold(answer, choiceEmpty) {
		return nil, nil
	}
	switch f.kind {
	case "boolean":
		switch strings.ToLower(answer) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, errors.New("answer Yes or No")
	case "number", "integer":
		return f.number(answer)
	case "array":
		return f.several(answer)
	}
	if len(f.options) > 0 {
		return f.pick(answer)
	}
	return answer, f.checkText(answer)
}

func (f field) number(answer string) (any, error) {
	n, err := strconv.ParseFloat(answer, 64)
	switch {
	case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		return nil, errors.New("it is not a number")
	case f.kind == "integer" && n != math.Trunc(n):
		return nil, errors.New("it is not a whole number")
	case f.minimum != nil && n < *f.minimum:
		return nil, fmt.Errorf("it is less than %v", *f.minimum)
	case f.maximum != nil && n > *f.maximum:
		return nil, fmt.Errorf("it is more than %v", *f.maximum)
	}
	return n, nil
}

func (f field) pick(answer string) (any, error) {
	for _, o := range f.options {
		if strings.EqualFold(o.title, answer) || o.value == answer {
			return o.value, nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(answer, ".")); err == nil && n >= 1 && n <= len(f.options) {
		return f.options[n-1].value, nil
	}
	return nil, errors.New("it is none of the options")
}

func (f field) several(answer string) (any, error) {
	list := []any{}
	for part := range strings.SplitSeq(answer, ",") {
		value, err := f.pick(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	return list, f.checkLength(len(list), "options")
}

func (f field) checkLength(n int, of string) error {
	switch {
	case f.shortest != nil && n < *f.shortest:
		return fmt.Errorf("it has fewer than %d %s", *f.shortest, of)
	case f.longest != nil && n > *f.longest:
		return fmt.Errorf("it has more than %d %s", *f.longest, of)
	}
	return nil
}

// checkText checks the length and the format of a text.
func (f field) checkText(text string) error {
	if err := f.checkLength(utf8.RuneCountInString(text), "characters"); err != nil {
		return err
	}
	switch f.format {
	case "email":
		if at, err := mail.ParseAddress(text); err != nil || at.Address != text {
			return errors.New("it is not an e-mail address")
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return errors.New("it is not an address")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return errors.New("it is not a date such as 2026-07-28")
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return errors.New("it is not a time such as 2026-07-28T09:30:00Z")
		}
	}
	return nil
}
