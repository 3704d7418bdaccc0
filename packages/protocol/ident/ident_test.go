package ident_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func generate(t testing.TB, kind ident.Kind) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestIDCommitsToBothKeys(t *testing.T) {
	keys, other := generate(t, ident.KindDevice), generate(t, ident.KindDevice)
	public := keys.Public()
	ids := []ident.ID{
		keys.ID(),
		ident.NewID(ident.KindClient, public),
		ident.NewID(ident.KindDevice, ident.Public{Sign: other.Public().Sign, Seal: public.Seal}),
		ident.NewID(ident.KindDevice, ident.Public{Sign: public.Sign, Seal: other.Public().Seal}),
		ident.NewID(ident.KindDevice, ident.Public{Sign: ident.SignPublic(public.Seal), Seal: ident.SealPublic(public.Sign)}),
	}
	for i, a := range ids {
		for j, b := range ids {
			if (a == b) != (i == j) {
				t.Errorf("ids %d and %d: equal is %v", i, j, a == b)
			}
		}
	}
	if ids[0] != ident.NewID(ident.KindDevice, public) {
		t.Error("the same keys give another id")
	}
}

func TestIDText(t *testing.T) {
	for _, kind := range []ident.Kind{ident.KindDevice, ident.KindClient} {
		id := generate(t, kind).ID()
		if len(id.String()) != ident.IDLen || id.Kind() != kind || id.IsZero() {
			t.Errorf("%s: length %d, kind %s", id, len(id.String()), id.Kind())
		}
		back, err := ident.ParseID(id.String())
		if err != nil || back != id {
			t.Errorf("ParseID(%s) = %s, %v", id, back, err)
		}
		text, err := json.Marshal(map[ident.ID]ident.ID{id: id})
		if err != nil {
			t.Fatal(err)
		}
		var again map[ident.ID]ident.ID
		if err := json.Unmarshal(text, &again); err != nil || again[id] != id {
			t.Errorf("%s reads back as %v, %v", text, again, err)
		}
	}
}

func TestZeroID(t *testing.T) {
	var zero ident.ID
	if zero.String() != "" || !zero.IsZero() || zero.Kind() != "" {
		t.Errorf("the zero id prints %q", zero)
	}
	id := generate(t, ident.KindClient).ID()
	if err := id.UnmarshalText(nil); err != nil || !id.IsZero() {
		t.Errorf("the empty text is %q, %v", id, err)
	}
}

func TestParseKinds(t *testing.T) {
	device, client := generate(t, ident.KindDevice).ID(), generate(t, ident.KindClient).ID()
	for _, c := range []struct {
		parse func(string) (ident.ID, error)
		text  string
		ok    bool
	}{
		{ident.ParseDeviceID, device.String(), true}, {ident.ParseDeviceID, client.String(), false},
		{ident.ParseClientID, client.String(), true}, {ident.ParseClientID, device.String(), false},
		{ident.ParseClientID, "", false}, {ident.ParseDeviceID, "dev_", false},
	} {
		if id, err := c.parse(c.text); (err == nil) != c.ok || c.ok && id.String() != c.text {
			t.Errorf("%q: %s, %v", c.text, id, err)
		}
	}
}

func TestErrorsClipForeignText(t *testing.T) {
	_, err := ident.ParseID(strings.Repeat("x", 1<<20))
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestCompareOrdersAsPrinted(t *testing.T) {
	var ids []ident.ID
	for range 20 {
		ids = append(ids, generate(t, ident.KindDevice).ID(), generate(t, ident.KindClient).ID())
	}
	slices.SortFunc(ids, ident.ID.Compare)
	for i := 1; i < len(ids); i++ {
		if ids[i-1].Kind() > ids[i].Kind() || ids[i-1].Compare(ids[i]) >= 0 {
			t.Errorf("%s is before %s", ids[i-1], ids[i])
		}
	}
	if ids[0].Compare(ids[0]) != 0 {
		t.Error("an id is not equal to itself")
	}
}

func TestPublicKeyText(t *testing.T) {
	public := generate(t, ident.KindDevice).Public()
	text, err := json.Marshal(public)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"signKey":%q,"sealKey":%q}`, public.Sign, public.Seal)
	if string(text) != want || len(public.Sign.String()) != 43 {
		t.Errorf("%s, want %s", text, want)
	}
	var back ident.Public
	if err := json.Unmarshal(text, &back); err != nil || back != public {
		t.Errorf("%s reads back as %v, %v", text, back, err)
	}
}

func TestSignAndVerify(t *testing.T) {
	keys, message := generate(t, ident.KindClient), []byte("message")
	sig, public := keys.Sign(message), keys.Public().Sign
	flipped := bytes.Clone(sig)
	flipped[9] ^= 4
	for _, c := range []struct {
		why          string
		key          ident.SignPublic
		message, sig []byte
		ok           bool
	}{
		{"good", public, message, sig, true}, {"other message", public, []byte("massage"), sig, false},
		{"flipped", public, message, flipped, false}, {"empty", public, message, nil, false},
		{"short", public, message, sig[:63], false}, {"long", public, message, append(sig[:64:64], 0), false},
		{"other key", generate(t, ident.KindClient).Public().Sign, message, sig, false},
		{"no key", ident.SignPublic{}, message, sig, false},
	} {
		if c.key.Verify(c.message, c.sig) != c.ok {
			t.Errorf("%s: verify is not %v", c.why, c.ok)
		}
	}
}

func TestPrivateKeysStayPrivate(t *testing.T) {
	keys := generate(t, ident.KindDevice)
	if _, err := json.Marshal(keys); !errors.Is(err, ident.ErrSecret) {
		t.Errorf("json.Marshal: %v", err)
	}
	if _, err := json.Marshal(struct{ Keys *ident.Private }{keys}); !errors.Is(err, ident.ErrSecret) {
		t.Errorf("json.Marshal of a struct: %v", err)
	}
	if _, err := keys.MarshalText(); !errors.Is(err, ident.ErrSecret) {
		t.Errorf("MarshalText: %v", err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "keys", keys)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "keys", keys)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&log, verb+"\n", keys)
	}
	fmt.Fprint(&log, keys)
	assertNoSecret(t, keys, log.String())
}

func assertNoSecret(t *testing.T, keys *ident.Private, text string) {
	t.Helper()
	secret := keys.ExportSecret()
	for _, half := range [][]byte{secret[:32], secret[32:], keys.SealSecret()} {
		for _, form := range []string{
			string(half), fmt.Sprintf("%x", half), fmt.Sprintf("%X", half), fmt.Sprint(half),
			base64.StdEncoding.EncodeToString(half), base64.RawURLEncoding.EncodeToString(half),
		} {
			// A part is enough to look for: a printer may add brackets or cut.
			if strings.Contains(text, form[4:24]) {
				t.Errorf("the secret is in %q", text)
			}
		}
	}
}

func TestExportAndImport(t *testing.T) {
	keys := generate(t, ident.KindClient)
	back, err := ident.ImportSecret(ident.KindClient, keys.ExportSecret())
	if err != nil || !back.Equal(keys) || back.ID() != keys.ID() {
		t.Errorf("%v, %v", back, err)
	}
	device, err := ident.ImportSecret(ident.KindDevice, keys.ExportSecret())
	if err != nil || device.Equal(keys) {
		t.Errorf("keys of another kind are equal (%v)", err)
	}
	if generate(t, ident.KindClient).Equal(keys) {
		t.Error("other keys are equal")
	}
	for _, n := range []int{0, 32, 63, 65} {
		if _, err := ident.ImportSecret(ident.KindClient, make([]byte, n)); err == nil {
			t.Errorf("a secret of %d bytes was taken", n)
		}
	}
	if _, err := ident.ImportSecret("usr", keys.ExportSecret()); err == nil {
		t.Error("an unknown kind was taken")
	}
	if _, err := ident.Generate(ident.KindClient, bytes.NewReader(make([]byte, 63))); err == nil {
		t.Error("keys were made of too little entropy")
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("dev_abcdefghijklmnopqrstuvwxyz234567")
	f.Add("cli_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ident.ParseID(text)
		if err == nil && id.String() != text {
			t.Errorf("%q is read as %q", text, id)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"))
	f.Add([]byte("AAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAA"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var sign ident.SignPublic
		var seal ident.SealPublic
		if err := sign.UnmarshalText(text); err == nil && sign.String() != string(text) {
			t.Errorf("%q is read as %q", text, sign)
		}
		if err := seal.UnmarshalText(text); err == nil && seal.String() != string(text) {
			t.Errorf("%q is read as %q", text, seal)
		}
	})
}
