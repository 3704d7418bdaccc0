package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
)

// benchLine is an entry of about 500 bytes.
func benchLine(i int, parent string) string {
	return fmt.Sprintf(`{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":%q,"content":[{"type":"text","text":"%s"}],"provider":"p","model":"m","stopReason":"stop","timestamp":1767323046000},"seq":%d}`,
		i, parent, []string{"user", "assistant"}[i%2], strings.Repeat("some words ", 25), i+1)
}

func benchFile(b *testing.B, entries int) *file.Provider {
	b.Helper()
	var content strings.Builder
	content.WriteString(newHeader("s") + "\n")
	parent := "null"
	for i := range entries {
		content.WriteString(benchLine(i, parent) + "\n")
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	p, _, _ := put(b, content.String())
	return p
}

// BenchmarkOpen opens a session and builds its context.
func BenchmarkOpen(b *testing.B) {
	for _, entries := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			p := benchFile(b, entries)
			b.ReportAllocs()
			for b.Loop() {
				log, err := p.Open(b.Context(), "s")
				if err != nil {
					b.Fatal(err)
				}
				s := store.NewSession(log)
				if n := len(s.Tree().LeafContext().Messages); n != entries {
					b.Fatalf("%d messages", n)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend appends without a sync, to sessions of different lengths.
func BenchmarkAppend(b *testing.B) {
	for _, entries := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			p := benchFile(b, entries)
			file.WithoutSync(p)
			log, err := p.Open(b.Context(), "s")
			if err != nil {
				b.Fatal(err)
			}
			s := store.NewSession(log)
			message := json.RawMessage(`{"role":"user","content":"` + strings.Repeat("some words ", 30) + `","timestamp":1}`)
			for b.Loop() {
				if _, err := s.AppendMessage(b.Context(), store.Mark{Seq: s.LastSeq() + 1}, message); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkDurableAppend appends from many sessions at once, and before that
// measures how often one file can be written to and synced by the bare system calls.
func BenchmarkDurableAppend(b *testing.B) {
	const sessions = 64
	for b.Loop() { // once: it takes seconds, and the results are reported as rates
		raw, err := rawSyncRate(b.TempDir(), 2*time.Second)
		if err != nil {
			b.Fatal(err)
		}
		rate, p99, err := appendRate(b.TempDir(), sessions, 2*time.Second)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(raw, "raw-syncs/s")
		b.ReportMetric(rate, "appends/s")
		b.ReportMetric(rate/raw, "times-raw")
		b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	}
}

func rawSyncRate(dir string, span time.Duration) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	line := []byte(benchLine(1, "null") + "\n")
	n, begin := 0, time.Now()
	for ; time.Since(begin) < span; n++ {
		if _, err := f.Write(line); err != nil {
			return 0, err
		}
		if err := file.SyncData(f); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// appendRate appends to many sessions at once, each from a goroutine of its own.
func appendRate(dir string, sessions int, span time.Duration) (perSecond float64, p99 time.Duration, err error) {
	p := file.New(dir, quiet())
	logs := make([]store.Log, sessions)
	for i := range logs {
		if logs[i], err = p.Create(context.Background(), "prj", json.RawMessage(newHeader(fmt.Sprint("s", i)))); err != nil {
			return 0, 0, err
		}
	}
	took, errs := make([][]time.Duration, sessions), make([]error, sessions)
	var wg sync.WaitGroup
	begin := time.Now()
	for i, log := range logs {
		wg.Go(func() {
			for n := 0; errs[i] == nil && time.Since(begin) < span; n++ {
				start := time.Now()
				errs[i] = log.Append(context.Background(), json.RawMessage(benchLine(n, "null")))
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	span = time.Since(begin)
	for _, log := range logs {
		errs = append(errs, log.Close())
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	return float64(len(all)) / span.Seconds(), all[len(all)*99/100], errors.Join(errs...)
}

// BenchmarkProvider is what the databases are measured with too.
func BenchmarkProvider(b *testing.B) {
	storetest.Bench(b, file.New(b.TempDir(), quiet()))
}
