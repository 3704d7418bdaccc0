package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// readJSON decodes one of scorel's files into v. A missing file leaves v unchanged. A file
// that contains null, or a key in the wrong case, is damaged rather than empty.
func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := exactjson.Strict(data, v); err != nil {
		return damaged(path, err)
	}
	return nil
}

func damaged(path string, err error) error {
	return fmt.Errorf("state: %s is damaged: repair it, or move it away and start without it (%w)", path, err)
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("state: encoding %s: %w", path, err)
	}
	if err := atomicfile.Write(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}
