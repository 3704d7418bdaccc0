// Package schedule starts sessions by itself: at times, after events, and for text from
// outside. Scheduler owns the schedules of a home; its goroutine is the only one that changes
// them. Each run is a session, and is stored before its session is created, so that a restart
// neither repeats nor loses it.
package schedule
