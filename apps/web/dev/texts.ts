export const goFile = `package relay

import "context"

// conn is one peer. The reader owns it; others talk to it through its queue.
type conn struct {
	queue chan record
	done  context.CancelFunc
}
`;

export const testOutput = Array.from({ length: 40 }, (_, i) =>
  i === 31
    ? "--- FAIL: TestQueueBound (0.02s)\n    conn_test.go:77: queue grew to 1048832 bytes, limit 1048576"
    : `=== RUN   TestQueue/case_${i}`,
).join("\n");

export const answer = `## What bounds the queue

The queue of a connection is bounded **in bytes**, not in records: a record may be 1 byte or 64 KiB.

1. \`enqueue\` adds the size before it appends.
2. Over the limit, it closes *that channel* with \`slow_consumer\`.
3. The writer subtracts what it has sent.

\`\`\`go
// enqueue never blocks: a full queue ends its channel and no other.
func (q *queue) enqueue(r record) error {
	if q.bytes+len(r.payload) > q.limit {
		return ErrSlowConsumer // 1 of 2 ends
	}
	q.bytes += len(r.payload)
	q.records = append(q.records, r)
	return nil
}
\`\`\`

| limit | bytes | closes |
|---|---:|---|
| channel | 1 048 576 | the channel |
| connection | 8 388 608 | the connection |

- [x] bound written
- [ ] benchmark

> Nothing is lost: an entry resumes from the host's log.

\`\`\`sh
go test ./apps/relay -run Queue -count=100
\`\`\`
`;

export const unbroken = `https://build.example.org/${"a1b2c3d4e5f6".repeat(14)}/artifact.tar.zst`;
export const arabic = "اقرأ ملف الإعدادات ثم أصلح الاختبار الذي يفشل (conn.go).";
export const japanese = "リレーが遅い受信者だけを閉じることを確認して、テストを書いてください。";
