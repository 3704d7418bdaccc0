package awake

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sys/windows"
)

// Flags of SetThreadExecutionState.
const (
	esContinuous     = 0x80000000
	esSystemRequired = 0x00000001
)

// System returns the inhibitor of this system: the execution state of a thread.
func System() Inhibitor { return executionState{} }

type executionState struct{}

// Hold implements Inhibitor. The state belongs to a thread, which a goroutine keeps until release.
func (executionState) Hold(context.Context) (func(), error) {
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	if err := set.Find(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	held, released, done := make(chan bool), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before, _, _ := set.Call(esContinuous | esSystemRequired)
		held <- before != 0
		<-released
		_, _, _ = set.Call(esContinuous) // the thread requires nothing any more
	}()
	release := func() {
		close(released)
		<-done
	}
	if !<-held {
		release()
		return nil, fmt.Errorf("%w: SetThreadExecutionState failed", ErrUnsupported)
	}
	return release, nil
}
