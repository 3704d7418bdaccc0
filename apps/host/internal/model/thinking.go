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

// level is how much the model shall think in this call. Files of other programs
// know levels above ours.
func (c Config) level(req agent.Request) agent.ThinkingLevel {
	switch level := cmp.Or(req.Thinking, c.Thinking); level {
	case "", agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium:
		return level
	}
	return agent.ThinkingHigh
}

// Levels lists what a session can choose of how much a model thinks, from the least
// to the most: levels that the provider takes for this model and that differ from
// each other. It is empty where the model cannot be told. Of a server that is not
// the provider's own nothing is known but what config.toml says.
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

// claudeLevels: a Claude model before 3.7 does not think, and one with a small answer
// has no room to.
func claudeLevels(config Config) []agent.ThinkingLevel {
	levels := []agent.ThinkingLevel{agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium, agent.ThinkingHigh}
	switch {
	case adaptive(config.Model):
		return slices.DeleteFunc(levels, func(l agent.ThinkingLevel) bool { return l == agent.ThinkingMinimal }) // it is low
	case unthinkingClaude.MatchString(config.Model), config.MaxTokens != 0 && config.MaxTokens < 2*minThinking:
		return nil
	}
	return levels
}

// own tells whether a message came from this very model by this protocol: only
// then are its signatures valid.
func (c Config) own(api string, m session.Message) bool {
	return m.API == api && m.Model == c.Model && (m.Provider == "" || m.Provider == c.Provider)
}

// budget is how many tokens a level may think, where a provider counts them.
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
	// thinkingGemini are those before Gemini 3 that think.
	thinkingGemini   = regexp.MustCompile(`^(models/)?gemini-2\.5`)
	unthinkingClaude = regexp.MustCompile(`^claude-(2|instant|3-(opus|sonnet|haiku|5))`)

	claudeID = regexp.MustCompile(`^claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?:-|$)`)
)

// effort is OpenAI's word for a level; "" leaves it to the model. Only newer
// models can be told not to think.
func effort(id string, level agent.ThinkingLevel) string {
	if level != agent.ThinkingOff {
		return string(level)
	}
	if switchable.MatchString(id) {
		return "none"
	}
	return ""
}

// adaptive tells whether a Claude model decides by itself how long it thinks and
// is told an effort instead of a number of tokens: from version 4.6 on.
func adaptive(id string) bool {
	found := claudeID.FindStringSubmatch(id)
	if found == nil {
		return false
	}
	major, _ := strconv.Atoi(found[1]) // digits only
	minor, _ := strconv.Atoi("0" + found[2])
	return major > 4 || major == 4 && minor >= 6
}
