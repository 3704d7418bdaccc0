package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/scorel/scorel/apps/relay/store"
)

// Export writes everything that a store holds, as of one moment, and counts it. The
// stream is complete only if the error is nil.
func Export(ctx context.Context, from store.Archive, w io.Writer) (store.Counts, error) {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // keep labels readable
	end := endLine{Type: typeEnd}
	err := enc.Encode(headLine{typeHead, Version})
	if err == nil {
		err = from.Rows(ctx, func(row store.Row) error {
			line, err := toLine(row)
			if err != nil {
				return err
			}
			end.Add(row, 1)
			return enc.Encode(line)
		})
	}
	if err == nil {
		err = enc.Encode(end)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return store.Counts{}, fmt.Errorf("exporting: %w", err)
	}
	return end.Counts, nil
}
