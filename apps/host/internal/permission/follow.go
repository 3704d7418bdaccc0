package permission

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Follow judges an address that an allowed call is redirected to. No one can be asked in
// the middle of a call, so whatever would ask is denied, unless the call itself named that
// host.
func (p Policy) Follow(tool, from, to string) Verdict {
	v := p.Judge(Request{Tool: tool, Subject: subjectURL, Writes: true, URL: to})
	if v.Action != Ask {
		return v
	}
	if host := hostOf(to); host != "" && strings.EqualFold(host, hostOf(from)) {
		return Verdict{Action: Allow, Reason: "the call names this host", Risk: v.Risk}
	}
	return denied(fmt.Sprintf("it redirects to %s, which is not allowed yet (%s): call that address directly so that it can be approved", hostOf(to), v.Reason), api.Risk{Level: v.Risk.Level, Reasons: v.Risk.Reasons})
}
