package file_test

import (
	"context"
	"encoding/json"
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
	for b.Loop() { // once: it takes seconds, and what counts is told as rates
		raw := rawSyncRate(b, 2*time.Second)
		rate, p99 := appendRate(b, sessions, 2*time.Second)
		b.ReportMetric(raw, "raw-syncs/s")
		b.ReportMetric(rate, "appends/s")
		b.ReportMetric(rate/raw, "times-raw")
		b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	}
}

func rawSyncRate(b *testing.B, span time.Duration) float64 {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := []byte(benchLine(1, "null") + "\n")
	n, begin := 0, time.Now()
	for ; time.Since(begin) < span; n++ {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := file.SyncData(f); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(begin).Seconds()
}

func appendRate(b *testing.B, sessions int, span time.Duration) (perSecond float64, p99 time.Duration) {
	p := file.New(b.TempDir(), quiet())
	ctx, cancel := context.WithTimeout(b.Context(), span)
	defer cancel()
	var wg sync.WaitGroup
	took := make([][]time.Duration, sessions)
	for i := range sessions {
		log, err := p.Create(b.Context(), "prj", json.RawMessage(newHeader(fmt.Sprint("s", i))))
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer log.Close()
			for n := 0; ctx.Err() == nil; n++ {
				begin := time.Now()
				if err := log.Append(b.Context(), json.RawMessage(benchLine(n, "null"))); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(begin))
			}
		})
	}
	begin := time.Now()
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return float64(len(all)) / time.Since(begin).Seconds(), all[len(all)*99/100]
}
