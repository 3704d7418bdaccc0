package schedule

import (
	"context"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// previewed is how many times preview_schedule returns.
const previewed = 5

func (q *Requests) preview(_ context.Context, _ *dispatch.Conn, r api.PreviewScheduleRequest) (response api.PreviewScheduleResponse, err error) {
	c, err := parseCron(r.Cron, r.Zone)
	if err != nil {
		return response, api.Errorf(api.KindBadRequest, "%s", err)
	}
	return api.PreviewScheduleResponse{Times: c.after(q.Scheduler.Now(), previewed)}, nil
}

// after returns the first n times after t, in Unix milliseconds.
func (c cron) after(t time.Time, n int) []int64 {
	times := make([]int64, 0, n)
	for len(times) < n {
		at, ok := c.next(t)
		if !ok {
			break
		}
		times, t = append(times, at.UnixMilli()), at
	}
	return times
}
