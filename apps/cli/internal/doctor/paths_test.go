package doctor_test

import (
	"errors"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
)

func TestPathsAreSummedUp(t *testing.T) {
	cause := errors.New("refused")
	for _, tt := range []struct {
		working, all int
		status       doctor.Status
		finding      doctor.Finding
	}{
		{3, 3, doctor.StatusOK, ""},
		{1, 3, doctor.StatusWarn, doctor.PathsPartly},
		{0, 3, doctor.StatusFailed, doctor.PathsNone},
	} {
		step := doctor.Paths(tt.working, tt.all, "local network", cause)
		if step.Status != tt.status || step.Finding != tt.finding || (step.Hint() == "") != (tt.finding == "") {
			t.Errorf("%d of %d: %+v, hint %q", tt.working, tt.all, step, step.Hint())
		}
		if errors.Is(step.Err, cause) != (tt.working == 0) {
			t.Errorf("%d of %d: the cause is %v", tt.working, tt.all, step.Err)
		}
	}
}
