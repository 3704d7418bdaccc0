package moves

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAFalseArchiveIsRefused: names that scorel does not give, links and repeated files.
func TestAFalseArchiveIsRefused(t *testing.T) {
	const good = "attached/0123456789abcdef/a.txt"
	archive := func(headers ...tar.Header) string {
		path := filepath.Join(t.TempDir(), "0")
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, header := range headers {
			if err := w.WriteHeader(&header); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	walk := func(path string) error {
		return walkArchive(path, func(string, string, *tar.Header, io.Reader) error { return nil })
	}
	if err := walk(archive(tar.Header{Typeflag: tar.TypeReg, Name: good}, tar.Header{Typeflag: tar.TypeReg, Name: "process/op_0123456789abcdef.jsonl"})); err != nil {
		t.Errorf("a good archive: %v", err)
	}
	for _, name := range []string{
		"../x", "/etc/passwd", "attached/../../x", "attached/0123456789abcdef/../../../x", "attached/0123456789abcdef/..", "attached/0123456789abcdef/.ssh",
		`attached/0123456789abcdef/..\x`, "process/../x.jsonl", "process/op_0123456789abcdef.jsonl/x", "todo.json", "attached/0123456789abcdef/a.part",
	} {
		if walk(archive(tar.Header{Typeflag: tar.TypeReg, Name: name})) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	if walk(archive(tar.Header{Typeflag: tar.TypeSymlink, Name: good, Linkname: "/etc"})) == nil {
		t.Error("a link is accepted")
	}
	if walk(archive(tar.Header{Typeflag: tar.TypeReg, Name: good}, tar.Header{Typeflag: tar.TypeReg, Name: good})) == nil {
		t.Error("a file is accepted twice")
	}
}

// TestASparseArchiveIsRefused: a file in a small archive claims to be huge, which would fill the
// disk.
func TestASparseArchiveIsRefused(t *testing.T) {
	const name = "attached/0123456789abcdef/a.txt"
	var records string
	for _, record := range []string{"GNU.sparse.size=1099511627776", "GNU.sparse.numblocks=1", "GNU.sparse.map=0,1", "GNU.sparse.name=" + name} {
		records += fmt.Sprintf("%d %s\n", len(record)+len("00 \n"), record)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, content := range []string{records, "x"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	data[156] = tar.TypeXHeader // of the first entry, which the package does not write as it is
	copy(data[148:156], "        ")
	sum := 0
	for _, c := range data[:512] {
		sum += int(c)
	}
	copy(data[148:156], fmt.Sprintf("%06o\x00 ", sum))
	if header, err := tar.NewReader(bytes.NewReader(data)).Next(); err != nil || header.Size != 1<<40 {
		t.Fatalf("the archive is not sparse: %+v %v", header, err)
	}
	path := filepath.Join(t.TempDir(), "0")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if walkArchive(path, func(string, string, *tar.Header, io.Reader) error { return nil }) == nil {
		t.Error("a sparse file is accepted")
	}
}

// TestASessionReturnsOnceItHasLeft: what the host still removes of a session that it moved away
// must not be the session that comes back.
func TestASessionReturnsOnceItHasLeft(t *testing.T) {
	m := newMoves(t, Options{Paths: state.Paths{Home: t.TempDir()}})
	left := record{ID: "mov_1", SessionID: "s", Family: []string{"s", "c"}, State: api.MoveDone}
	if err := os.MkdirAll(m.folder(left.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := m.add(left); err != nil {
		t.Fatal(err)
	}
	var refused *api.Error
	back := record{ID: "mov_2", SessionID: "s", Family: []string{"s"}, Incoming: true}
	if err := m.target.admission.checkRoom(back); !errors.As(err, &refused) || refused.Kind != api.KindUnavailable {
		t.Errorf("the session may return: %v", err)
	}
}

// memory is a log that is only in memory.
type memory struct {
	file  *session.File
	lines []json.RawMessage
}

func (m *memory) File() *session.File { return m.file }
func (m *memory) Close() error        { return nil }
func (m *memory) Append(_ context.Context, lines ...json.RawMessage) error {
	m.lines = append(m.lines, lines...)
	return nil
}

// handedOver is a log with one entry, which a device has signed.
func handedOver(t *testing.T, keys *ident.Private, id string, record session.MovedRecord) []byte {
	t.Helper()
	header, err := session.EncodeHeader(session.Header{Type: session.TypeSession, Version: session.Version, ID: id, Timestamp: "2026-11-21T12:07:07.101Z", Cwd: "/x"})
	if err != nil {
		t.Fatal(err)
	}
	data := append(header, '\n')
	file, err := session.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	log := &memory{file: file}
	s := store.NewSession(log, store.WithSigner(func(message []byte) session.Head {
		public := keys.Public()
		return session.Head{SignKey: public.Sign, SealKey: public.Seal, Signature: [64]byte(keys.Sign(message))}
	}))
	raw, err := session.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendCustom(t.Context(), store.Mark{Seq: 1}, session.CustomMoved, raw); err != nil {
		t.Fatal(err)
	}
	return append(append(data, log.lines[0]...), '\n')
}

func newDevice(t *testing.T) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestAFalseHandoverIsRefused: the last entry of a log must be signed by the device that was
// chosen, and hand this session over to this device in this move.
func TestAFalseHandoverIsRefused(t *testing.T) {
	const id = "01a1fe00-0000-7000-8000-000000000001"
	from, to, other := newDevice(t), newDevice(t), newDevice(t)
	r := record{ID: "mov_1", SessionID: id, Family: []string{id}, From: from.ID(), To: to.ID(), Offer: api.MoveOffer{From: api.DeviceKeys(from.Public())}}
	path := filepath.Join(t.TempDir(), "0")
	check := func(data []byte) (int, error) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return checkLog(path, id, r, 0)
	}
	good := handedOver(t, from, id, r.handover())
	if problems, err := check(good); err != nil || problems != 0 {
		t.Fatalf("a good log: %d %v", problems, err)
	}
	elsewhere, again, arrived := r.handover(), r.handover(), r.handover()
	elsewhere.To, again.MoveID, arrived.Arrived = other.ID().String(), "mov_2", true
	for what, data := range map[string][]byte{
		"signed by another device":  handedOver(t, other, id, r.handover()),
		"for another device":        handedOver(t, from, id, elsewhere),
		"of another move":           handedOver(t, from, id, again),
		"an arrival":                handedOver(t, from, id, arrived),
		"of another session":        handedOver(t, from, "01a1fe00-0000-7000-8000-000000000002", r.handover()),
		"without the entry":         good[:bytes.IndexByte(good, '\n')+1],
		"without the end of a line": good[:len(good)-1],
		"with a line after it":      append(bytes.Clone(good), "{}\n"...),
		"nothing":                   nil,
	} {
		if _, err := check(data); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	changed := bytes.Replace(good, []byte(`"cwd":"/x"`), []byte(`"cwd":"/y"`), 1)
	if problems, err := check(changed); err == nil && problems == 0 {
		t.Error("a changed log has no problems")
	}
}

// liar is a target that confirms whatever it is asked.
type liar struct {
	answers chan []byte
	ended   chan struct{}
}

func (l *liar) Send(_ context.Context, message []byte) error {
	var head api.RequestHead
	if err := json.Unmarshal(message, &head); err != nil {
		return err
	}
	answers := map[string]any{
		"move_status": api.MoveStatusResponse{State: api.MoveSending, Received: []int64{3}},
		"check_move":  api.CheckMoveResponse{Digest: "0000"},
	}
	answer, err := api.EncodeResponse(head.RequestID, answers[head.Type])
	l.answers <- answer
	return err
}

func (l *liar) Receive(context.Context) ([]byte, error) {
	select {
	case answer := <-l.answers:
		return answer, nil
	case <-l.ended:
		return nil, io.EOF
	}
}

func (l *liar) Close() error { close(l.ended); return nil }

// TestAFalseConfirmationCancels: a target confirms something else than what was sent.
func TestAFalseConfirmationCancels(t *testing.T) {
	m := newMoves(t, Options{Paths: state.Paths{Home: t.TempDir()}})
	r := record{ID: "mov_1", SessionID: "s", State: api.MoveSending, Offer: api.MoveOffer{Items: []api.MoveItem{{Kind: api.MoveLog, SessionID: "s", Size: 3, SHA256: "x"}}}}
	if err := os.MkdirAll(m.folder(r.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.folder(r.ID), "0"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err := m.add(r)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(&liar{make(chan []byte, 8), make(chan struct{})}, nil)
	defer func() { _ = c.Close() }()
	if err := (&sending{source: m.source, move: one, record: r, to: &peer{client: c, moveID: r.ID}}).all(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("the confirmation counts: %v", err)
	}
	if state := m.of(one).State; state != api.MoveSending {
		t.Errorf("the move is %s", state)
	}
}
