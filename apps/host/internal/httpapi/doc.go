// Package httpapi serves direct connections of this machine: HTTP requests, streams of
// server-sent events, and WebSockets. It authenticates callers by token, bounds what their
// requests hold in memory, and hands everything else to a dispatch.Dispatcher. It knows
// neither the relay nor what a request does.
package httpapi
