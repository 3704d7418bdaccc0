package permission

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Cap returns the highest mode that a client with these grants may set. Its prompts never
// run in a higher mode, whatever the session's mode is. A paired device is limited to
// remote; the machine itself has no limit.
func Cap(grants []api.Grant, remote api.Mode) api.Mode {
	switch {
	case slices.Contains(grants, api.GrantLocal):
		return api.ModeBypass
	case slices.Contains(grants, api.GrantManage) && slices.Contains(grants, api.GrantApprove):
		return remote
	case slices.Contains(grants, api.GrantApprove):
		return Lower(api.ModeAuto, remote)
	case slices.Contains(grants, api.GrantPrompt):
		return Lower(api.ModeAsk, remote)
	}
	return api.ModePlan
}

// Lower returns the mode that allows less; an unknown mode counts as ask.
func Lower(a, b api.Mode) api.Mode {
	modes := api.Modes()
	rank := func(m api.Mode) int {
		if i := slices.Index(modes, m); i >= 0 {
			return i
		}
		return slices.Index(modes, api.ModeAsk)
	}
	return modes[min(rank(a), rank(b))]
}
