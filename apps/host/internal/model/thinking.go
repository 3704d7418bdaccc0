package model

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// level returns how much the model should think in this call. Files of other programs may
// contain higher levels than ours.
func (c Config) level(req agent.Request) agent.ThinkingLevel {
	switch level := cmp.Or(req.Thinking, c.Thinking); level {
	case "", agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium:
		return level
	}
	return agent.ThinkingHigh
}

// Levels returns the thinking levels that a session can choose, lowest first: the levels
// that the provider accepts for this model and that differ from each other. It is empty if
// the model has no such setting. For a server other than the provider's own, only the
// levels in config.toml are known.
func Levels(config Config) []agent.ThinkingLevel {
	const off, minimal, low, medium, high = agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium, agent.ThinkingHigh
	switch id := config.Model; {
	case config.Type == TypeAnthropic:
		return claudeLevels(config)
	case config.Type == TypeGoogle && gemini3(id) && !strings.Contains(id, "flash"):
		return []agent.ThinkingLevel{low, high}
	case config.Type == TypeGoogle && gemini3(id):
		return []agent.ThinkingLevel{minimal, low, medium, high}
	case config.Type == TypeGoogle && thinkingGemini.MatchString(id):
		return []agent.ThinkingLevel{off, minimal, low, medium, high}
	case config.Type != TypeOpenAI && config.Type != TypeResponses:
		return nil
	case switchable.MatchString(id):
		return []agent.ThinkingLevel{off, low, medium, high}
	case strings.HasPrefix(id, "gpt-5"):
		return []agent.ThinkingLevel{minimal, low, medium, high}
	case reasoningID.MatchString(id), config.Thinking != "" && config.Thinking != off:
		return []agent.ThinkingLevel{low, medium, high}
	}
	return nil
}

// claudeLevels returns the levels of a Claude model. A model before 3.7 does not think, and
// a small answer leaves no room for thinking.
func claudeLevels(config Config) []agent.ThinkingLevel {
	levels := []agent.ThinkingLevel{agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium, agent.ThinkingHigh}
	switch {
	case adaptive(config.Model):
		return slices.DeleteFunc(levels, func(l agent.ThinkingLevel) bool { return l == agent.ThinkingMinimal }) // it equals low
	case unthinkingClaude.MatchString(config.Model), config.MaxTokens != 0 && config.MaxTokens < 2*minThinking:
		return nil
	}
	return levels
}

// own reports whether a message came from exactly this model over this protocol. Only then
// are its signatures valid.
func (c Config) own(api string, m session.Message) bool {
	return m.API == api && m.Model == c.Model && (m.Provider == "" || m.Provider == c.Provider)
}

// budget returns the number of thinking tokens for a level, for providers that count them.
func budget(level agent.ThinkingLevel) int {
	switch level {
	case agent.ThinkingMinimal:
		return 1024
	case agent.ThinkingLow:
		return 4096
	case agent.ThinkingMedium:
		return 10240
	case agent.ThinkingHigh:
		return 24576
	}
	return 0
}

var (
	reasoningID = regexp.MustCompile(`^(o\d|gpt-[5-9]|gpt-\d\d|codex)`)
	switchable  = regexp.MustCompile(`^gpt-(5\.|[6-9]|\d\d)`)
	// thinkingGemini matches the models before Gemini 3 that think.
	thinkingGemini   = regexp.MustCompile(`^(models/)?gemini-2\.5`)
	unthinkingClaude = regexp.MustCompile(`^claude-(2|instant|3-(opus|sonnet|haiku|5))`)

	claudeID = regexp.MustCompile(`^claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?:-|$)`)
)

// effort returns OpenAI's word for a level; "" leaves it to the model. Only newer models
// can disable thinking.
func effort(id string, level agent.ThinkingLevel) string {
	if level != agent.ThinkingOff {
		return string(level)
	}
	if switchable.MatchString(id) {
		return "none"
	}
	return ""
}

// adaptive reports whether a Claude model decides itself how long it thinks and takes an
// effort instead of a number of tokens: version 4.6 and later.
func adaptive(id string) bool {
	found := claudeID.FindStringSubmatch(id)
	if found == nil {
		return false
	}
	major, _ := strconv.Atoi(found[1]) // digits only
	minor, _ := strconv.Atoi("0" + found[2])
	return major > 4 || major == 4 && minor >= 6
}
