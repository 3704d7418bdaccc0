package index_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/session"
)

// vocabulary makes words whose frequencies are those of a natural text: the word of
// rank n is n times as rare as the first.
type vocabulary struct {
	r *rand.Rand
	z *rand.Zipf
}

func newVocabulary() vocabulary {
	r := rand.New(rand.NewPCG(7, 7))
	return vocabulary{r, rand.NewZipf(r, 1.07, 4, 20_000)}
}

func (v vocabulary) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		fmt.Fprintf(&b, "w%dq ", v.z.Uint64())
	}
	return b.String()
}

// fill makes sessions of messages with about 500 bytes each. One message of every
// thousand names a needle.
func (h *home) fill(sessions, messages int) {
	h.t.Helper()
	v := newVocabulary()
	for s := range sessions {
		id := fmt.Sprintf("s%05d", s)
		header, err := session.EncodeHeader(session.Header{
			Version: session.Version, ID: id, Timestamp: session.FormatTime(dawn), Cwd: "/home/ada/site",
		})
		check(h.t, err)
		lines := make([]json.RawMessage, messages)
		for i := range lines {
			text := v.text(400)
			if v.r.IntN(1000) == 0 {
				text += "needle"
			}
			role, parent := "user", "null"
			if i%2 == 1 {
				role = "assistant"
			}
			if i > 0 {
				parent = fmt.Sprintf(`"e%07d"`, i-1)
			}
			at := session.FormatTime(dawn.Add(time.Duration(s*messages+i) * time.Second))
			lines[i] = json.RawMessage(fmt.Sprintf(`{"type":"message","id":"e%07d","parentId":%s,"timestamp":%q,"message":{"role":%q,"content":[{"type":"text","text":%q}],"timestamp":1}}`,
				i, parent, at, role, text))
		}
		log, err := h.provider.Create(h.t.Context(), fmt.Sprintf("prj_%d", s%10), header, lines...)
		check(h.t, err)
		check(h.t, log.Close())
	}
}

// BenchmarkSearch searches 1 000 sessions of 200 messages.
func BenchmarkSearch(b *testing.B) {
	h := newHome(b)
	h.fill(1000, 200)
	x := h.open()
	start := time.Now()
	h.touchAll(x)
	b.Logf("built in %v", time.Since(start).Round(time.Millisecond))
	if info, err := os.Stat(h.path()); err == nil {
		b.Logf("the index has %d MiB", info.Size()>>20)
	}
	for name, q := range map[string]index.Query{
		"rare":             {Text: "needle"},
		"rare-in-project":  {Text: "needle", ProjectID: "prj_3"},
		"common":           {Text: "w0q"},
		"common-project":   {Text: "w0q", ProjectID: "prj_3", Role: "user"},
		"two-common":       {Text: "w1q w2q"},
		"common-and-rare":  {Text: "w0q needle"},
		"common-and-never": {Text: "w0q nowhere"},
		"five-middle":      {Text: "w20q w30q w40q w50q w60q"},
		"phrase":           {Text: `"w1q w2q"`},
		"phrase-rare":      {Text: `"w100q w200q"`},
		"prefix":           {Text: "w1*"},
		"prefix-half":      {Text: "w1* needle"},
		"not":              {Text: "w3q -w0q"},
		"nothing":          {Text: "nowhere"},
	} {
		b.Run(name, func(b *testing.B) {
			hits := 0
			for b.Loop() {
				hits = len(search(b, x, q))
			}
			b.ReportMetric(float64(hits), "hits")
		})
	}
	check(b, x.Close())
	b.Run("open-and-list", func(b *testing.B) {
		for b.Loop() {
			x := h.open()
			if rows, err := x.List(b.Context(), index.Page{}); err != nil || len(rows) != 1000 {
				b.Fatal(err, len(rows))
			}
			b.StopTimer()
			check(b, x.Close())
			b.StartTimer()
		}
	})
}

// BenchmarkWarm opens an index and finds that nothing is stale, for one session of
// growing length.
func BenchmarkWarm(b *testing.B) {
	for _, messages := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			h := newHome(b)
			h.fill(1, messages)
			x := h.open()
			h.touchAll(x)
			check(b, x.Close())
			for b.Loop() {
				x := h.open()
				if h.touchAll(x) != 0 {
					b.Fatal("a session is stale")
				}
				b.StopTimer()
				check(b, x.Close())
				b.StartTimer()
			}
		})
	}
}

// BenchmarkBuild builds an index from scratch.
func BenchmarkBuild(b *testing.B) {
	h := newHome(b)
	h.fill(50, 200)
	for b.Loop() {
		check(b, os.RemoveAll(h.path()))
		x := h.open()
		h.touchAll(x)
		check(b, x.Close())
	}
	b.ReportMetric(float64(b.N*50*200)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkTouch is what an append pays for the index.
func BenchmarkTouch(b *testing.B) {
	h := newHome(b)
	h.session("aaaa", "prj_1")
	x := h.open()
	for b.Loop() {
		x.Touch("aaaa", "prj_1")
	}
	check(b, x.Close())
}
