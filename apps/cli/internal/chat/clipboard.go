package chat

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// clipboardTime bounds how long the clipboard may take.
const clipboardTime = 5 * time.Second

// clipboardRead is the image of the clipboard.
type clipboardRead struct {
	data []byte
	err  error
}

// pasteImage reads the image of this machine's clipboard: terminals paste text only.
func pasteImage(ctx context.Context, environ []string) tea.Cmd {
	argv := clipboardCommand(runtime.GOOS, environ)
	return func() tea.Msg {
		data, err := readClipboard(ctx, argv)
		return clipboardRead{data, err}
	}
}

// tookClipboard attaches what was read.
func (f *field) tookClipboard(read clipboardRead) error {
	if read.err != nil {
		return read.err
	}
	return f.attach("clipboard", read.data)
}

// clipboardCommand returns the program that writes the image of the clipboard to its output.
func clipboardCommand(system string, environ []string) []string {
	has := func(name string) bool {
		return slices.ContainsFunc(environ, func(pair string) bool { return strings.HasPrefix(pair, name+"=") && pair != name+"=" })
	}
	switch {
	case system == "darwin":
		return []string{"osascript", "-e", "get the clipboard as «class PNGf»"}
	case system == "windows":
		return []string{"powershell", "-NoProfile", "-Command", "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; " +
			"$i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); " +
			"'data PNGf' + [BitConverter]::ToString($s.ToArray()).Replace('-', '') }"}
	case has("WAYLAND_DISPLAY"):
		return []string{"wl-paste", "--type", "image/png"}
	case has("DISPLAY"):
		return []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}
	}
	return nil
}

func readClipboard(ctx context.Context, argv []string) ([]byte, error) {
	if argv == nil {
		return nil, errors.New("this terminal has no clipboard: paste the path of an image, or use /image PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, clipboardTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the clipboard cannot be read, because %s is not installed: paste the path of an image, or use /image PATH", argv[0])
	}
	// Text of two digits for each byte, and a few more.
	data, readErr := io.ReadAll(io.LimitReader(out, 2*api.MaxImageBytes+1024))
	if len(data) > 2*api.MaxImageBytes {
		cancel() // it writes more than an image may have
	}
	err = cmd.Wait()
	if readErr != nil || err != nil || len(data) == 0 {
		return nil, errors.New("the clipboard has no image")
	}
	return decoded(data)
}

// decoded reads the text in which macOS and Windows give binary data, «data PNGf89504E47...».
func decoded(data []byte) ([]byte, error) {
	_, digits, found := bytes.Cut(data[:min(len(data), 32)], []byte("data PNGf"))
	if !found {
		return data, nil
	}
	start := min(len(data), 32) - len(digits)
	text := strings.TrimSpace(string(data[start:]))
	text = strings.TrimSuffix(text, "»")
	out, err := hex.DecodeString(text)
	if err != nil {
		return nil, errors.New("the clipboard has an image that cannot be read: save it as a file and use /image PATH")
	}
	return out, nil
}
