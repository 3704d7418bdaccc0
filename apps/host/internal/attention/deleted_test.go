package attention

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
)

// TestADeletedSessionTakesItsNotificationBack: also if that of its answer was not sent yet, and only
// what asks for something.
func TestADeletedSessionTakesItsNotificationBack(t *testing.T) {
	for name, c := range map[string]struct {
		notice sessions.Notice
		done   string
		want   []string
	}{
		"waits":    {approval("apr_1"), "", []string{"gone"}},
		"answered": {approval("apr_1"), "apr_1", []string{"gone"}},
		"failed":   {ended(sessions.NoticeFailed, "turn_1"), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, filepath.Join(t.TempDir(), "push.json"))
				defer s.stop()
				s.ProjectOf = func(string) (string, bool) { return "prj_1", true }
				c.notice.SessionID, c.notice.RootID = "deleted", "deleted"
				s.Needs(c.notice)
				s.want(burst+time.Second, string(c.notice.Kind))
				s.ProjectOf = func(string) (string, bool) { return "", false }
				if c.done != "" {
					s.Done("deleted", c.done)
				}
				s.RemoveSession("deleted")
				s.want(time.Minute, c.want...)
				if has := s.store.read(); len(has.Notified) != 0 || len(has.Deliveries) != 0 {
					t.Errorf("left are %+v and %+v", has.Notified, has.Deliveries)
				}
			})
		})
	}
}
