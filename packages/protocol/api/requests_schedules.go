package api

// Requests about prompts that are sent at a time or for an event.
var (
	ListSchedules   = Define[ListSchedulesRequest, ListSchedulesResponse]("list_schedules", GrantView, "Lists the schedules with their last runs.", Shown)
	SaveSchedule    = Define[SaveScheduleRequest, ScheduleResponse]("save_schedule", GrantManage, "Creates or replaces a schedule; the same clientKey yields the same schedule.", Concurrently, Named)
	PreviewSchedule = Define[PreviewScheduleRequest, PreviewScheduleResponse]("preview_schedule", GrantView, "Returns the next times of a cron expression.", Shown)
	EnableSchedule  = Define[EnableScheduleRequest, ScheduleResponse]("enable_schedule", GrantManage, "Enables or disables a schedule.", Concurrently, Named)
	RunSchedule     = Define[RunScheduleRequest, RunScheduleResponse]("run_schedule", GrantManage, "Runs a schedule now, once per clientKey.", Concurrently, Named)
	DeleteSchedule  = Define[ScheduleRequest, Empty]("delete_schedule", GrantManage, "Deletes a schedule. Sessions of its runs are kept.", Concurrently, Named)
)

func scheduleRequests() []Spec {
	return []Spec{
		ListSchedules.Spec(),
		SaveSchedule.Spec(),
		PreviewSchedule.Spec(),
		EnableSchedule.Spec(),
		RunSchedule.Spec(),
		DeleteSchedule.Spec(),
	}
}
