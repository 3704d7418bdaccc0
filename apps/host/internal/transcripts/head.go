package transcripts

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
)

// newest returns the paths of the accepted files below a folder of root, newest first.
func newest(ctx context.Context, root *os.Root, folder string, depth int, accept func(string) bool) ([]string, error) {
	type dated struct {
		path string
		at   int64
	}
	var found []dated
	err := files(ctx, root, folder, depth, accept, func(path string) {
		if info, err := root.Lstat(path); err == nil {
			found = append(found, dated{path, info.ModTime().UnixNano()})
		}
	})
	slices.SortFunc(found, func(a, b dated) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.path, b.path)) })
	paths := make([]string, 0, min(len(found), maxFiles))
	for _, f := range found[:min(len(found), maxFiles)] {
		paths = append(paths, f.path)
	}
	return paths, err
}

// maxHeadLines bounds the lines that are read to list a transcript.
const maxHeadLines = 400

// heads calls fn for the first lines of a file until it returns false, and sets the size and the
// time of info. A file that cannot be read has no lines.
func heads(ctx context.Context, root *os.Root, path string, info *Info, fn func(line []byte) bool) error {
	lines, stat, err := openLines(ctx, root, path, maxHead)
	if err != nil {
		return ctx.Err()
	}
	info.Updated, info.Bytes = stat.ModTime(), stat.Size()
	for range maxHeadLines {
		line, err := lines.next()
		if err != nil || !fn(line) {
			break
		}
	}
	return errors.Join(ctx.Err(), lines.close())
}

// eachLine calls fn for all lines of a file.
func eachLine(ctx context.Context, root *os.Root, path string, info *Info, report *Report, fn func(line []byte) error) error {
	lines, stat, err := openLines(ctx, root, path, maxTranscript)
	if err != nil {
		return err
	}
	info.Updated, info.Bytes = stat.ModTime(), stat.Size()
	for {
		line, err := lines.next()
		if err == nil {
			err = fn(line)
		}
		if err != nil {
			report.Damaged += lines.damaged
			if lines.torn {
				report.Unfinished++
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, lines.close())
		}
	}
}

func first(texts ...string) string { return cmp.Or(texts...) }

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
