package seal

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func benchPair(tb testing.TB) (device, client *Channel) {
	tb.Helper()
	d, err1 := ident.Generate(ident.KindDevice, rand.Reader)
	c, err2 := ident.Generate(ident.KindClient, rand.Reader)
	if err1 != nil || err2 != nil {
		tb.Fatal(err1, err2)
	}
	return openPair(tb, d, c)
}

func openPair(tb testing.TB, d, c *ident.Private) (device, client *Channel) {
	tb.Helper()
	i, err1 := NewHandshake(c, Peer{d.ID(), d.Public().Seal}, rand.Reader)
	r, err2 := NewHandshake(d, Peer{c.ID(), c.Public().Seal}, rand.Reader)
	if err1 != nil || err2 != nil {
		tb.Fatal(err1, err2)
	}
	message1, err := i.Start()
	if err != nil {
		tb.Fatal(err)
	}
	message2, device, err := r.Answer(message1)
	if err != nil {
		tb.Fatal(err)
	}
	client, err = i.Finish(message2)
	if err != nil {
		tb.Fatal(err)
	}
	return device, client
}

func BenchmarkSealOpen(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"256B", 256}, {"2KiB", 2 << 10}, {"64KiB", 64 << 10}} {
		b.Run(size.name, func(b *testing.B) {
			device, client := benchPair(b)
			message := []byte(strings.Repeat(`{"delta":"some words"},`, size.n/23+1)[:size.n])
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				records, err := device.Seal(message)
				if err != nil {
					b.Fatal(err)
				}
				for _, record := range records {
					if _, err := client.Open(record); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
