package storetest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// testChained writes a session, over restarts, and finds its chain whole in what the
// provider gives back: each provider keeps the same bytes, so each proves the same.
func testChained(t *testing.T, p *place) {
	device, err := ident.Generate(ident.KindDevice, rand.Reader)
	check(t, err)
	sign := store.WithSigner(func(message []byte) session.Head {
		public := device.Public()
		return session.Head{SignKey: public.Sign, SealKey: public.Seal, Signature: [64]byte(device.Sign(message))}
	})
	old := said("old", "", "written before there was a chain")
	log := p.create("s", old)
	for round := range 3 {
		s := store.NewSession(log, sign)
		_, err := s.AppendMessage(t.Context(), store.Mark{Seq: uint64(2*round + 1), Step: true}, user("grüße"))
		check(t, err)
		_, err = s.AppendMessage(t.Context(), store.Mark{Seq: uint64(2*round + 2)}, assistant("<b>&\u2028"))
		check(t, err)
		check(t, s.Close())
		p.restart()
		log, err = p.Open(t.Context(), "s")
		check(t, err)
	}
	s := store.NewSession(log, sign)
	_, data, err := p.Export(t.Context(), "s")
	check(t, err)
	wantProof(t, data, device.ID(), 3, 8)

	header := header("fork")
	fork, err := s.Branched(t.Context(), p.Provider, project, header, s.Tree().Leaf())
	check(t, err)
	_, err = fork.AppendSessionInfo(t.Context(), store.Mark{}, "on its own way")
	check(t, err)
	_, forked, err := p.Export(t.Context(), "fork")
	check(t, err)
	wantProof(t, forked, device.ID(), 2, 9)
	_, last, _ := session.SplitChain(bytes.TrimSuffix(data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:], []byte("\n")))
	if want := (session.Origin{SessionID: "s", EntryID: s.Tree().Leaf(), Chain: last.String()}); fork.Header().Origin != want {
		t.Errorf("the origin is %+v, want %+v", fork.Header().Origin, want)
	}
	check(t, fork.Close())
	check(t, s.Close())

	tampered := bytes.Replace(data, []byte("grüße"), []byte("grüsse"), 1)
	check(t, p.Delete(t.Context(), "s"))
	check(t, p.Import(t.Context(), project, tampered))
	_, back, err := p.Export(t.Context(), "s")
	check(t, err)
	if got := proof.Check(back); got.Holds || got.Problems[0].Kind != api.ProblemChanged || got.Problems[0].Line != 3 {
		t.Errorf("a changed line is proven: %+v", got)
	}
}

func wantProof(t *testing.T, data []byte, device ident.ID, from, lines int) {
	t.Helper()
	got := proof.Check(data)
	if !got.Holds || got.From != from || got.Lines != lines || got.Unsigned != 0 || len(got.Heads) != 1 || got.Heads[0].DeviceID != device {
		encoded, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("%s\n%s", encoded, data)
	}
}
