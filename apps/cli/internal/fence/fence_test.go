package fence_test

import (
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/fence"
)

func TestAround(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "```",
		"a `b` ``c``":           "```",
		"```\ncode\n```":        "````",
		"``` and ````` and ``":  "``````",
		"ends with four: ````":  "`````",
		"``" + "é" + "``" + "x": "```",
	} {
		if got := fence.Around(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
