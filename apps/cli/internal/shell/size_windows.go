package shell

import "os"

// resized reports nothing: Windows has no signal for the size of a console.
func resized() (sizes <-chan os.Signal, stop func()) { return nil, func() {} }
