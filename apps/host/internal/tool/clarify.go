package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

//go:embed clarify.md
var clarifyDoc string

// Bounds of a question.
const (
	maxQuestionChars = 4000
	maxChoiceChars   = 400
)

// What the model reads if there is no answer. These texts must not change.
const (
	noAnswerSkipped = "The user leaves it to you: decide yourself, and say how you decided."
	noAnswerTimeout = "No one answered in time: decide yourself, choose what is easiest to undo, and say how you decided."
	noAnswerNobody  = "No one who may answer is present. The question ends this turn: the user's next message may answer it."
)

// clarify asks people a question.
type clarify struct{ *Set }

type clarifyArgs struct {
	Question string        `json:"question"`
	Choices  clarifyChoice `json:"choices,omitempty"`
}

// clarifyChoice is a list of choices. Models send them as strings, as objects with the text
// in one of several fields, or the whole list as a string.
type clarifyChoice []string

// UnmarshalJSON implements json.Unmarshaler.
func (c *clarifyChoice) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil { // null too, which decodes to an empty string
		data = []byte(cmp.Or(text, "[]"))
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return errors.New(`the argument "choices" must be a list of strings`)
	}
	for _, item := range items {
		choice, err := choiceText(item)
		if err != nil {
			return err
		}
		*c = append(*c, choice)
	}
	return nil
}

// choiceText returns the text of a choice.
func choiceText(item json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(item, &text) == nil {
		return strings.TrimSpace(text), nil
	}
	var number json.Number
	if json.Unmarshal(item, &number) == nil {
		return number.String(), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(item, &object); err == nil {
		for _, key := range []string{"label", "description", "text", "title"} {
			if json.Unmarshal(object[key], &text) == nil && strings.TrimSpace(text) != "" {
				return strings.TrimSpace(text), nil
			}
		}
	}
	return "", fmt.Errorf("the choice %.80s is not a string", item)
}

// check validates the question and prepares it for display.
func (a *clarifyArgs) check() error {
	a.Question = strings.TrimSpace(a.Question)
	a.Choices = slices.DeleteFunc(a.Choices, func(c string) bool { return c == "" })
	var unique []string
	for _, choice := range a.Choices {
		if !slices.Contains(unique, choice) {
			unique = append(unique, choice)
		}
	}
	a.Choices = unique
	switch {
	case a.Question == "":
		return errors.New("the question is empty")
	case utf8.RuneCountInString(a.Question) > maxQuestionChars:
		return fmt.Errorf("the question has %d characters, the limit is %d; ask it in a sentence or two", utf8.RuneCountInString(a.Question), maxQuestionChars)
	case len(a.Choices) > agent.MaxChoices:
		return fmt.Errorf("there are %d choices, the limit is %d; leave out the least likely, people can answer something else", len(a.Choices), agent.MaxChoices)
	}
	for _, choice := range a.Choices {
		if n := utf8.RuneCountInString(choice); n > maxChoiceChars {
			return fmt.Errorf("a choice has %d characters, the limit is %d; put explanations into the question", n, maxChoiceChars)
		}
	}
	return nil
}

func (clarify) Spec() agent.ToolSpec {
	return spec("clarify", clarifyDoc, `{
		"question": {"type": "string", "description": "What you want to know."},
		"choices": {"type": "array", "maxItems": 4, "items": {"type": "string"}, "description": "Up to four answers to choose from."}}`,
		"question")
}

// Risk implements agent.Tool. A question changes nothing, but it must be the only call,
// because it would hide a second one.
func (clarify) Risk() agent.Risk { return agent.RiskAlone }

func (clarify) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Ask the user a question", Detail: string(call.Arguments)}
}

// clarifyOutcome is what the model and programs read.
type clarifyOutcome struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices_offered"`
	Response *string  `json:"user_response"`
	NoAnswer string   `json:"no_answer,omitempty"` // why there is no answer, and what to do
}

// clarifyDetails tells people and programs who answered.
type clarifyDetails struct {
	clarifyOutcome
	Outcome    string `json:"outcome,omitempty"` // "" if the question was not asked
	AnsweredBy string `json:"answered_by,omitempty"`
}

func (clarify) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args clarifyArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("clarify: %v.", err)
	}
	if err := args.check(); err != nil {
		return agent.Failure("clarify: %v.", err)
	}
	var reply agent.Reply
	if call.Ask != nil {
		var err error
		if reply, err = call.Ask(ctx, agent.Question{Text: args.Question, Choices: args.Choices}); err != nil && ctx.Err() == nil {
			return agent.Failure("clarify: the question could not be asked (%v). Decide yourself, and say how you decided.", err)
		}
	}
	if ctx.Err() != nil && reply.Outcome == "" {
		reply.Outcome = agent.CancelledQuestion
	}
	return args.result(reply)
}

// result returns the result for a reply.
func (a clarifyArgs) result(reply agent.Reply) agent.Result {
	out := clarifyDetails{
		clarifyOutcome: clarifyOutcome{Question: a.Question, Choices: append([]string{}, a.Choices...)},
		Outcome:        string(reply.Outcome), AnsweredBy: reply.By,
	}
	var result agent.Result
	switch reply.Outcome {
	case agent.Answered:
		out.Response = &reply.Answer
	case agent.Skipped:
		out.NoAnswer = noAnswerSkipped
	case agent.TimedOut:
		out.NoAnswer = noAnswerTimeout
	case agent.CancelledQuestion:
		result = agent.Failure("%s", agent.TextNotAnswered)
	default:
		out.NoAnswer, result.Closing = noAnswerNobody, a.text()
	}
	if result.Content == nil {
		result.Content = session.Content{session.Text(string(encoded(out.clarifyOutcome)))}
	}
	result.Details = encoded(out)
	return result
}

// text returns the question as a message that the next prompt may answer.
func (a clarifyArgs) text() string {
	var b strings.Builder
	b.WriteString(a.Question + "\n")
	for i, choice := range a.Choices {
		fmt.Fprintf(&b, "\n%d. %s", i+1, choice)
	}
	return strings.TrimSpace(b.String())
}

// encoded returns readable JSON: <, > and & are not escaped.
func encoded(v any) json.RawMessage {
	data, err := session.Encode(v)
	if err != nil { // cannot happen: strings can always be encoded
		return nil
	}
	return data
}
