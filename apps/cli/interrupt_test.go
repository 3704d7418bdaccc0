package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
)

// TestReadingIsInterrupted: no input ever comes, and the command was interrupted.
func TestReadingIsInterrupted(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	a := &app{console: console{stdin: in, stderr: io.Discard}}
	for name, read := range map[string]func(ctx context.Context) error{
		"a prompt":  func(ctx context.Context) error { _, _, err := promptText(ctx, a.console, "-"); return err },
		"an image":  func(ctx context.Context) error { _, err := readImages(ctx, a.stdin, []string{"-"}); return err },
		"arguments": func(ctx context.Context) error { _, err := readArgs(ctx, a.stdin, "-"); return err },
		"a text":    func(ctx context.Context) error { _, err := textFile(ctx, a.stdin, "--file", "-"); return err },
		"a secret": func(ctx context.Context) error {
			_, err := a.console.readSecret(ctx, "the key", "Key: ", 100)
			return err
		},
		"a guest link": func(ctx context.Context) error {
			_, err := (&target{con: a.console, given: "-"}).sessionOf(ctx, nil)
			return err
		},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- read(ctx) }()
		select {
		case err := <-ended:
			t.Fatalf("%s: reading ended early: %v", name, err)
		default:
		}
		interrupt()
		if err := <-ended; !errors.Is(err, context.Canceled) || sentence(err) != "interrupted" || exitCode(err) != ExitFailed {
			t.Errorf("%s: an interrupt is reported as %v", name, err)
		}
	}
}

// TestASecretIsInterrupted: Ctrl-C at the question for a key ends the command, and the terminal
// shows what is typed again.
func TestASecretIsInterrupted(t *testing.T) {
	top := t.TempDir()
	p := newPane(t, top, "SCOREL_HOME="+filepath.Join(top, "home"), "HOME="+top, "GORACE=atexit_sleep_ms=10")
	p.keys("stty -g >before; scorel model key set openai; code=$?; stty -g >after; echo ended with $code", "Enter")
	p.await("Key for OPENAI_API_KEY:")
	p.keys("C-c")
	p.await("ended with 1")
	if before, after := readText(t, top, "before"), readText(t, top, "after"); before != after {
		t.Errorf("the settings of the terminal were %s and are %s", before, after)
	}
}
