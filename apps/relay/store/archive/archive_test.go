package archive_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func open(t testing.TB) store.Archive {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func party(t testing.TB, kind ident.Kind, label string) store.Party {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: label}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123_456_000, time.UTC)

// lived returns a store with one valid and one ended binding, and its export.
func lived(t testing.TB) (store.Archive, string) {
	t.Helper()
	st := open(t)
	device := party(t, ident.KindDevice, "<box> & zwölf")
	for i, label := range []string{"phone", "old phone"} {
		client := party(t, ident.KindClient, label)
		if err := st.Bind(t.Context(), device, client, noon); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := st.Revoke(t.Context(), device.ID, client.ID, client.ID, noon.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, lifetime := range []time.Duration{0, time.Hour} {
		_, invite, err := store.NewInvite(3, lifetime, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.AddInvite(t.Context(), invite); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := st.RevokeInvite(t.Context(), invite.ID, noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return st, export(t, st)
}

func export(t testing.TB, st store.Archive) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := archive.Export(t.Context(), st, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExportImport(t *testing.T) {
	_, text := lived(t)
	if !strings.Contains(text, `"label":"<box> & zwölf"`) {
		t.Errorf("the label cannot be read in\n%s", text)
	}
	to := open(t)
	want := store.Counts{Devices: 1, Clients: 2, Bindings: 2, Events: 3, Invites: 2}
	for i, wantChanged := range []store.Counts{want, {}} {
		read, changed, err := archive.Import(t.Context(), to, strings.NewReader(text))
		if err != nil || read != want || changed != wantChanged {
			t.Fatalf("import %d: %+v, %+v, %v", i, read, changed, err)
		}
		if again := export(t, to); again != text {
			t.Fatalf("import %d changed the export:\n%s\nto\n%s", i, text, again)
		}
	}
}

// What was exported before there were invites in it is still read.
func TestVersion1IsRead(t *testing.T) {
	_, text := lived(t)
	var old strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.Contains(line, `"type":"invite"`):
		case strings.Contains(line, `"type":"end"`):
			old.WriteString(strings.Replace(line, `,"invites":2`, "", 1))
		default:
			old.WriteString(strings.Replace(line, `"version":2`, `"version":1`, 1))
		}
	}
	to := open(t)
	want := store.Counts{Devices: 1, Clients: 2, Bindings: 2, Events: 3}
	if read, changed, err := archive.Import(t.Context(), to, strings.NewReader(old.String())); err != nil || read != want || changed != want {
		t.Fatalf("%+v, %+v, %v", read, changed, err)
	}
	if read, changed, err := archive.Import(t.Context(), to, strings.NewReader(text)); err != nil || changed != (store.Counts{Invites: 2}) {
		t.Fatalf("the newer export over it: %+v, %+v, %v", read, changed, err)
	}
}

func TestEmptyStore(t *testing.T) {
	text := export(t, open(t))
	if n := strings.Count(text, "\n"); n != 2 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	if _, _, err := archive.Import(t.Context(), open(t), strings.NewReader(text)); err != nil {
		t.Error(err)
	}
}

func TestBadStreamsChangeNothing(t *testing.T) {
	_, text := lived(t)
	lines := strings.SplitAfter(text, "\n")
	device, binding, end := lines[1], lines[4], lines[len(lines)-2]
	replace := func(old, with string) string { return strings.Replace(text, old, with, 1) }
	invite := func(hash string) string {
		return lines[0] + `{"type":"invite","id":"inv_abcdefgh",` + hash + `,"uses":3,"createdAt":1}` + "\n"
	}
	for name, tc := range map[string]struct{ stream, want string }{
		"nothing":             {"", "line 1: this is not a relay's export"},
		"something else":      {`{"type":"session"}` + "\n", "line 1: this is not a relay's export"},
		"no JSON":             {"relay.db\n", "line 1: it is not a JSON"},
		"newer":               {replace(`"version":2`, `"version":3`), "update the older program"},
		"version 0":           {replace(`"version":2`, `"version":0`), "reads 1 to 2"},
		"invites too early":   {replace(`"version":2`, `"version":1`), `unknown line type "invite"`},
		"cut between lines":   {strings.TrimSuffix(text, end), "is incomplete"},
		"cut in a line":       {text[:len(text)-10], "line 12: it is not a JSON"},
		"a line is lost":      {replace(lines[6], ""), "too few or too many lines"},
		"a device is lost":    {replace(device, ""), "no earlier line defines dev_"},
		"more after the end":  {text + device, "data after the last line"},
		"two values":          {replace(device, strings.TrimSpace(device)+" {}\n"), "line 2"},
		"unknown type":        {replace(`"type":"binding"`, `"type":"grant"`), `unknown line type "grant"`},
		"unknown field":       {replace(`"type":"binding"`, `"type":"binding","until":1`), "until"},
		"foreign keys":        {replace(`"signKey":"`, `"signKey":"A`), "line 2"},
		"a device as client":  {replace(`"type":"device"`, `"type":"client"`), "is not the id of a client"},
		"label that steers":   {replace("phone", `\u001b[2J`), "control character"},
		"client for a device": {replace(binding, strings.ReplaceAll(binding, "dev_", "cli_")), "are not a device and a client"},
		"unknown action":      {replace(`"action":"bound"`, `"action":"forged"`), `unknown action "forged"`},
		"invite without id":   {replace(`"id":"inv_`, `"id":"inv/`), "is not an invite id"},
		"no hash":             {invite(`"hash":""`), "32 bytes"},
		"invite of no code":   {invite(`"hash":"` + strings.Repeat("A", 43) + `"`), "has no hash"},
		"invite lacks hash":   {invite(`"used":0`), "has no hash"},
		"used too often":      {replace(`"used":0`, `"used":4`), "was used 4 times of 3"},
		"used less than none": {replace(`"used":0`, `"used":-1`), "was used -1 times"},
		"no uses":             {replace(`"uses":3`, `"uses":0`), "allows 0 uses"},
		"too many uses":       {replace(`"uses":3`, `"uses":1000000`), "allows 1000000 uses"},
		"an end that is none": {regexp.MustCompile(`"revokedAt":\d+`).ReplaceAllString(text, `"revokedAt":-62135596800000000`), "nothing ended in the year 1"},
		"time is no number":   {replace(`"createdAt":`, `"createdAt":"x`), "line 2"},
		"endless line":        {lines[0] + strings.Repeat(" ", 1<<16), "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			to := open(t)
			before := export(t, to)
			_, _, err := archive.Import(t.Context(), to, strings.NewReader(tc.stream))
			if !errors.Is(err, archive.ErrStream) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if after := export(t, to); after != before {
				t.Errorf("it left\n%s", after)
			}
		})
	}
}

func TestErrorsOfTheStreamPass(t *testing.T) {
	broken := errors.New("broken pipe")
	_, _, err := archive.Import(t.Context(), open(t), io.MultiReader(strings.NewReader(`{"type":"scorel_relay_export","version":1}`+"\n"), failing{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	st, _ := lived(t)
	if _, err := archive.Export(t.Context(), st, failing{broken}); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestCheck(t *testing.T) {
	st, _ := lived(t)
	report, err := archive.Check(t.Context(), st)
	if err != nil || len(report.Problems) != 0 || report.Schema == 0 || report.Schema != report.Needed ||
		report.Counts != (store.Counts{Devices: 1, Clients: 2, Bindings: 2, Events: 3, Invites: 2}) || report.Revoked != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// rows is an archive that holds what a damaged one could.
type rows struct {
	store.Archive
	have, need int64
	rows       []store.Row
	err        error
}

func (r rows) Schema(context.Context) (have, need int64, err error) { return r.have, r.need, nil }
func (r rows) Merge(context.Context, iter.Seq2[store.Row, error]) (store.Counts, error) {
	panic("a check must not write")
}
func (r rows) Rows(_ context.Context, each func(store.Row) error) error {
	for _, row := range r.rows {
		if err := each(row); err != nil {
			return err
		}
	}
	return r.err
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	device, client := party(t, ident.KindDevice, "d"), party(t, ident.KindClient, "c")
	bound := store.BindingRow{Device: device.ID, Client: client.ID, Created: noon}
	crowd := []store.Row{store.PartyRow{Party: device}}
	for range wire.MaxBindings + 1 {
		c := party(t, ident.KindClient, "c")
		crowd = append(crowd, store.PartyRow{Party: c}, store.BindingRow{Device: device.ID, Client: c.ID, Created: noon})
	}
	for name, tc := range map[string]struct {
		in   rows
		want string
	}{
		"old schema":     {rows{have: 1, need: 2}, "scorel relay store migrate"},
		"newer schema":   {rows{have: 3, need: 2}, "update this program"},
		"orphan":         {rows{rows: []store.Row{store.PartyRow{Party: device}, bound}}, "lacks a device or client"},
		"damage":         {rows{err: store.ErrDamaged}, "restore the store from a backup"},
		"label":          {rows{rows: []store.Row{store.PartyRow{Party: store.Party{ID: device.ID, Label: "\x07"}}}}, "control character"},
		"unknown action": {rows{rows: []store.Row{store.Event{Action: "forged"}}}, `"forged"`},
		"invite":         {rows{rows: []store.Row{store.Invite{ID: "inv_abcdefgh", Uses: 1}}}, "has no hash"},
		"crowd":          {rows{rows: crowd}, "valid bindings, more than"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := archive.Check(t.Context(), tc.in)
			if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0], tc.want) {
				t.Errorf("%q, %v, want %q", report.Problems, err, tc.want)
			}
		})
	}
	gone := errors.New("gone")
	if _, err := archive.Check(t.Context(), rows{err: gone}); !errors.Is(err, gone) {
		t.Errorf("a store that cannot be read: %v", err)
	}
}

// FuzzRead: whatever comes in, what is accepted comes out again as it was.
func FuzzRead(f *testing.F) {
	_, text := lived(f)
	f.Add([]byte(text))
	for _, line := range strings.SplitAfter(text, "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var accepted []store.Row
		for row, err := range archive.Read(bytes.NewReader(data)) {
			if err != nil {
				return
			}
			accepted = append(accepted, row)
		}
		var out bytes.Buffer
		if _, err := archive.Export(t.Context(), rows{rows: accepted}, &out); err != nil {
			t.Fatal(err)
		}
		i := 0
		for row, err := range archive.Read(&out) {
			if err != nil || row != accepted[i] {
				t.Fatalf("row %d came back as %v, %v; it was %v", i, row, err, accepted[i])
			}
			i++
		}
		if i != len(accepted) {
			t.Fatalf("%d of %d rows came back", i, len(accepted))
		}
	})
}
