package chat

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestTheImageOfTheClipboard is attached with a key; without an image, the terminal says so.
func TestTheImageOfTheClipboard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the programs of other systems are not replaced here")
		return
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	install := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	picture := filepath.Join(bin, "picture")
	if err := os.WriteFile(picture, pngPixel, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.open(80, 24, func(cfg *Config) { cfg.Environ = []string{"DISPLAY=:0", "WAYLAND_DISPLAY="} })
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	install("xclip", `case "$*" in *image/png*) cat `+picture+`;; esac`)
	w.key('v', tea.ModCtrl)
	w.await("[image clipboard]")
	install("xclip", "echo 'Error: target image/png not available' >&2; exit 1")
	w.key('v', tea.ModCtrl)
	w.await("the clipboard has no image")
	install("xclip", "echo text")
	w.key('v', tea.ModAlt)
	w.await("clipboard is not a PNG")
	if n := len(w.model.field.images); n != 1 {
		t.Errorf("%d images are attached", n)
	}
	w.prompt("what is this?")
	w.await("your message has images")
	w.idle()
	w.model.cfg.Environ = nil
	w.key('v', tea.ModCtrl)
	w.await("this terminal has no clipboard")
}

func TestClipboardsOfOtherSystems(t *testing.T) {
	for system, want := range map[string]string{"darwin": "osascript", "windows": "powershell", "linux": "wl-paste"} {
		if got := clipboardCommand(system, []string{"WAYLAND_DISPLAY=wayland-0", "DISPLAY=:0"}); got[0] != want {
			t.Errorf("%s: %q", system, got)
		}
	}
	for text, want := range map[string]string{"«data PNGf89504e47»\n": "\x89PNG", "data PNGf89504E47\r\n": "\x89PNG", "\x89PNG data": "\x89PNG data"} {
		if got, err := decoded([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	if _, err := decoded([]byte("«data PNGfxx»")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("the error is %v", err)
	}
}
