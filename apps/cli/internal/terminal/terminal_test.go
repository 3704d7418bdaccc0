package terminal

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rsc.io/qr"
)

func TestAsk(t *testing.T) {
	in := strings.NewReader("y\nno\n  YES \n\nwhatever\n")
	asker := NewAsker(in, io.Discard)
	for i, want := range []bool{true, false, true, false, false, false, false} { // the input ends after five
		got, err := asker.Ask(t.Context(), "Really?")
		if err != nil || got != want {
			t.Errorf("answer %d: %t, %v", i, got, err)
		}
	}
}

func TestAskIsWithdrawn(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	asker := NewAsker(in, io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := asker.Ask(ctx, "Really?"); yes || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %t, %v", yes, err)
	}
	go func() { _, _ = io.WriteString(keyboard, "y\n") }()
	if yes, err := asker.Ask(t.Context(), "And now?"); !yes || err != nil {
		t.Fatalf("the next question got %t, %v", yes, err)
	}
}

// TestQRDrawsEveryModule reads the drawing back.
func TestQRDrawsEveryModule(t *testing.T) {
	const text = "https://relay.example/pair#7K3M-9QXR-2BTD"
	drawn, err := QR(text, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	for y := range code.Size {
		row := []rune(lines[(y+quiet)/2])
		for x := range code.Size {
			upper, lower := modules(row[x+quiet])
			black := !upper
			if (y+quiet)%2 == 1 {
				black = !lower
			}
			if black != code.Black(x, y) {
				t.Fatalf("module %d,%d is wrong", x, y)
			}
		}
	}
	if !strings.HasPrefix(drawn, strings.Repeat("█", code.Size+2*quiet)+"\n") {
		t.Error("there is no quiet zone")
	}
}

// TestQRIsLargeWhereItFits reads the large drawing back.
func TestQRIsLargeWhereItFits(t *testing.T) {
	const text = "https://relay.example/pair#7K3M-9QXR-2BTD"
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	side := code.Size + 2*quiet
	for name, tc := range map[string]struct {
		columns, rows int
		large         bool
	}{
		"exactly":    {2 * side, side + beside, true},
		"too narrow": {2*side - 1, 200, false},
		"too low":    {500, side + beside - 1, false},
	} {
		drawn, err := QR(text, tc.columns, tc.rows)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
		if large := len(lines) == side; large != tc.large {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		if !tc.large {
			continue
		}
		for y, line := range lines {
			for x, r := range []rune(line) {
				if white := r == '█'; white != light(code, x/2-quiet, y-quiet) {
					t.Fatalf("%s: module %d,%d is wrong", name, x/2-quiet, y-quiet)
				}
			}
		}
	}
}

func modules(r rune) (upper, lower bool) {
	switch r {
	case '█':
		return true, true
	case '▀':
		return true, false
	case '▄':
		return false, true
	}
	return false, false
}

func TestOpener(t *testing.T) {
	none := func(string) string { return "" }
	display := func(name string) string { return map[string]string{"WAYLAND_DISPLAY": "wayland-0"}[name] }
	tests := []struct {
		goos   string
		getenv func(string) string
		want   string
		err    error
	}{
		{"linux", none, "", ErrNoDisplay},
		{"linux", display, "xdg-open", nil},
		{"darwin", none, "open", nil},
		{"windows", none, "rundll32", nil},
	}
	for _, test := range tests {
		name, _, err := opener(test.goos, test.getenv)
		if name != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v", test.goos, name, err)
		}
	}
}

func TestIsTerminal(t *testing.T) {
	if IsTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
}

var update = flag.Bool("update", false, "write the drawings that the web UI's scanner is tested with")

// TestQRIsWhatTheScannerIsTestedWith: the page's tests read these files as a camera sees them
// from 1 m (apps/web/src/features/pair/distance.test.ts).
func TestQRIsWhatTheScannerIsTestedWith(t *testing.T) {
	const text = "https://relay.example.org/pair#7K3M-9QXR-2BTD"
	for name, size := range map[string]struct{ columns, rows int }{"small": {80, 24}, "large": {200, 60}} {
		drawn, err := QR(text, size.columns, size.rows)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "qr-"+name+".txt")
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(drawn), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != drawn {
			t.Errorf("%s is not what is drawn: go test . -run ScannerIsTested -update (%v)", path, err)
		}
	}
}
