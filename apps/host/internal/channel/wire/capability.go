package wire

import (
	"encoding/json"
	"errors"
	"time"
	"unicode/utf16"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Capability is the value of the capability scorel/channel: what a server offers beyond what
// claude/channel says. All is optional.
type Capability struct {
	Version int `json:"version"` // 1
	// Text is the longest message in Units. A character takes one unit, or as many as Weights
	// says, and a part that is not plain takes Markup more.
	Text    int            `json:"text,omitempty"`
	Unit    string         `json:"unit,omitempty"` // "utf16" (the default), "utf8" or "rune"
	Weights map[string]int `json:"weights,omitempty"`
	Markup  int            `json:"markup,omitempty"`

	Every      int64 `json:"every,omitempty"`     // milliseconds between two messages to a chat
	EditEvery  int64 `json:"editEvery,omitempty"` // milliseconds between two edits
	File       int64 `json:"file,omitempty"`      // bytes of a file, 0 for none
	Edits      bool  `json:"edits,omitempty"`
	Grows      bool  `json:"grows,omitempty"` // growing messages can be edited
	Buttons    bool  `json:"buttons,omitempty"`
	Idempotent bool  `json:"idempotent,omitempty"`
}

// Bounds of what a server may say about itself.
const (
	minText     = 200
	defaultText = 2000
	maxText     = 64 << 10
	maxWeights  = 64
	maxMarkup   = 64
	maxEvery    = 60_000
)

// ReadCapability reads the value of a capability. Values out of bounds become the nearest.
func ReadCapability(value any) (c Capability, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	if c.Version != 1 {
		return c, errors.New("its version is not 1")
	}
	if c.Text == 0 {
		c.Text = defaultText
	}
	c.Text = min(max(c.Text, minText), maxText)
	c.Markup = min(max(c.Markup, 0), maxMarkup)
	c.Every, c.EditEvery = min(max(c.Every, 0), maxEvery), min(max(c.EditEvery, 0), maxEvery)
	c.File = min(max(c.File, 0), channel.MaxFile)
	if len(c.Weights) > maxWeights {
		return c, errors.New("it has too many weights")
	}
	for one, weight := range c.Weights {
		if len([]rune(one)) != 1 || weight < 1 || weight > maxMarkup {
			return c, errors.New("a weight is not one character with 1 to 64 units")
		}
	}
	return c, nil
}

// Limits are those that a capability says.
func (c Capability) Limits() channel.Limits {
	weights := map[rune]int{}
	for one, weight := range c.Weights {
		weights[[]rune(one)[0]] = weight
	}
	return channel.Limits{
		Text: c.Text, Units: func(s channel.Segment) int { return c.units(s, weights) },
		Every: time.Duration(c.Every) * time.Millisecond, EditEvery: time.Duration(c.EditEvery) * time.Millisecond,
		File: c.File, Edits: c.Edits, Grows: c.Grows, Buttons: c.Buttons, Idempotent: c.Idempotent,
	}
}

func (c Capability) units(s channel.Segment, weights map[rune]int) (n int) {
	for _, r := range s.Text {
		switch weight, known := weights[r]; {
		case known:
			n += weight
		case c.Unit == "rune":
			n++
		case c.Unit == "utf8":
			n += len(string(r))
		default:
			n += max(1, utf16.RuneLen(r))
		}
	}
	if s.Kind != channel.Plain {
		n += c.Markup + len(s.Lang)
	}
	return n
}

// Describe is the capability of a platform. Its units are found by measuring.
func Describe(l channel.Limits) Capability {
	c := Capability{
		Version: 1, Text: l.Text, Unit: "utf16", Weights: map[string]int{}, Every: l.Every.Milliseconds(), EditEvery: l.EditEvery.Milliseconds(),
		File: l.File, Edits: l.Edits, Grows: l.Grows, Buttons: l.Buttons, Idempotent: l.Idempotent,
	}
	of := func(kind channel.Kind, text string) int { return l.Units(channel.Segment{Kind: kind, Text: text}) }
	switch {
	case of(channel.Plain, "👍") == 1:
		c.Unit = "rune"
	case of(channel.Plain, "é") == 2:
		c.Unit = "utf8"
	}
	for r := ' '; r < 0x7f; r++ {
		// Some characters are escaped only beside others, so two are measured as well.
		one, two := of(channel.Plain, string(r)), of(channel.Plain, string(r)+string(r))
		if weight := max(one, (two+1)/2); weight > 1 {
			c.Weights[string(r)] = weight
		}
	}
	for _, kind := range []channel.Kind{channel.Bold, channel.Code, channel.Block} {
		c.Markup = max(c.Markup, of(kind, "x")-of(channel.Plain, "x"))
	}
	return c
}
