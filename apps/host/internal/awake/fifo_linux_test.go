package awake

import (
	"os"
	"syscall"
	"testing"
)

// followFIFO returns what programs write to a named pipe; it is closed when none has it open.
func followFIFO(t *testing.T, path string) <-chan string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	output := make(chan string, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(output)
		file, err := os.Open(path) // once somebody writes
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		for buffer := make([]byte, 100); ; {
			n, err := file.Read(buffer)
			if n > 0 {
				output <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if unblock, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = unblock.Close()
		}
		<-done
	})
	return output
}
