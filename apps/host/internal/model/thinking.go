package model

import (
	"cmp"
	"regexp"
	"strconv"

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
	claudeID    = regexp.MustCompile(`^claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?:-|$)`)
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
