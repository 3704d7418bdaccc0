package sessions

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// attended tells whether somebody watches who may give an answer that needs the grant.
func (s *Session) attended(grant api.Grant) bool {
	for _, grants := range s.subscribers {
		if slices.Contains(grants, grant) {
			return true
		}
	}
	return false
}

// attend tells everybody when it changes whether something waits that nobody who
// watches may answer.
func (s *Session) attend() {
	if s.log == nil {
		return
	}
	unattended := len(s.pending) > 0 && !s.attended(api.GrantApprove) || len(s.questions) > 0 && !s.attended(api.GrantPrompt)
	if unattended != s.live.Unattended {
		s.publish(api.AttendanceChanged{Unattended: unattended})
	}
}
