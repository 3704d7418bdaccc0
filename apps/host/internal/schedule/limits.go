package schedule

// Limits of schedules.
const (
	maxSchedules = 100  // on one host
	maxRuns      = 20   // that the host remembers of each schedule
	maxQueue     = 16   // events from outside that wait for a run of one schedule
	minTokenLen  = 24   // characters
	maxSeen      = 1000 // keys of events that are remembered, so that none counts twice
)
