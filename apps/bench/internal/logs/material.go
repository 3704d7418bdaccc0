package logs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/home/ada/site"}`

// writeSession makes a session file, s below folder, of entries of about 500 bytes:
// prompts and answers in turn.
func writeSession(folder string, entries int) (path string, err error) {
	path = filepath.Join(folder, "prj", "2026-01-02T03-04-05-678Z_s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, header)
	parent, text := "null", strings.Repeat("some words ", 25)
	for i := range entries {
		fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:06.%03dZ","message":%s}`+"\n", i, parent, i%1000, message(i, text))
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	return path, errors.Join(w.Flush(), f.Close())
}

func message(i int, text string) string {
	if i%2 == 0 {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s and what stands in line %d of it"}],"timestamp":1767323046000}`, text, i)
	}
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"api":"a","provider":"p","model":"m","stopReason":"stop","timestamp":1767323046000}`, text)
}
