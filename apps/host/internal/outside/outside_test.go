package outside_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/outside"
)

func TestFence(t *testing.T) {
	const text = "one\r\ntwo\t\x1b[31mred\u202Eder\u200B\uFEFF\U000E0041 \xff\xfe é 中"
	if got, want := outside.Fence("outside-x", " by=\"ann\"", text), "<<<outside-x by=\"ann\"\none\ntwo\t[31mredder \uFFFD é 中\noutside-x>>>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
