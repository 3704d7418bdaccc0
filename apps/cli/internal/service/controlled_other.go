//go:build !windows

package service

import "context"

// Controlled runs a program as the service control manager of Windows expects it.
func Controlled(func(ctx context.Context) int) (code int, ok bool) { return 0, false }
