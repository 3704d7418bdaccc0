package protocol_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
)

func TestVectorsIDs(t *testing.T) {
	const good = "dev_abcdefghijklmnopqrstuvwxyz234567"
	content := struct {
		Parties []party `json:"parties"`
		BadIDs  []bad   `json:"badIds"`
		BadKeys []bad   `json:"badKeys"`
	}{
		Parties: []party{
			partyOf(testKeys(t, ident.KindDevice, 0)), partyOf(testKeys(t, ident.KindClient, 0)),
			partyOf(testKeys(t, ident.KindDevice, 77)), partyOf(testKeys(t, ident.KindClient, 200)),
		},
		BadIDs: []bad{
			{"empty", ""}, {"prefix only", "dev_"}, {"unknown prefix", "usr" + good[3:]}, {"upper-case prefix", "DEV" + good[3:]},
			{"upper-case digit", "dev_A" + good[5:]}, {"digit 0", "dev_0" + good[5:]}, {"digit 1", "dev_1" + good[5:]},
			{"one digit short", good[:35]}, {"one digit long", good + "a"}, {"padded", good[:28] + "========"},
			{"leading blank", " " + good}, {"trailing blank", good + " "}, {"blank for a digit", good[:35] + " "},
			{"line end", good[:35] + "\n"}, {"no underscore", strings.Replace(good, "_", "a", 1)},
			{"dash for underscore", strings.Replace(good, "_", "-", 1)}, {"not ASCII", good[:34] + "é"}, {"NUL", good[:35] + "\x00"},
		},
		BadKeys: []bad{
			{"empty", ""}, {"31 bytes", strings.Repeat("A", 42)}, {"33 bytes", strings.Repeat("A", 44)},
			{"padded", strings.Repeat("A", 43) + "="}, {"standard alphabet", strings.Repeat("A", 42) + "+"},
			{"spare bits set", strings.Repeat("A", 42) + "B"}, {"blank", strings.Repeat("A", 42) + " "},
			{"line end inside", strings.Repeat("A", 20) + "\n" + strings.Repeat("A", 23)},
			{"hex", strings.Repeat("00", 32)}, {"not ASCII", strings.Repeat("A", 42) + "Ａ"},
		},
	}
	checkFile(t, "ids.json", content)
	for _, p := range content.Parties {
		if id := ident.NewID(p.Kind, ident.Public{Sign: p.SignKey, Seal: p.SealKey}); id != p.ID {
			t.Errorf("NewID = %s, want %s", id, p.ID)
		}
	}
	for _, c := range content.BadIDs {
		if id, err := ident.ParseID(c.Input); err == nil {
			t.Errorf("%s: ParseID(%q) = %s", c.Why, c.Input, id)
		}
	}
	for _, c := range content.BadKeys {
		var sign ident.SignPublic
		var seal ident.SealPublic
		if sign.UnmarshalText([]byte(c.Input)) == nil || seal.UnmarshalText([]byte(c.Input)) == nil {
			t.Errorf("%s: %q was taken for a key", c.Why, c.Input)
		}
	}
}

func TestVectorsCodes(t *testing.T) {
	type code struct {
		Text   string `json:"text"`
		Slot   string `json:"slot"`
		Secret string `json:"secret"`
		Reveal string `json:"reveal"`
	}
	content := struct {
		Good []code `json:"good"`
		Bad  []bad  `json:"bad"`
	}{
		Good: []code{
			{"7K3M-9QXR-2BTD", "7K3M", "4dfb812f4d", "7K3M-9QXR-2BTD"},
			{"7k3m9qxr2btd", "7K3M", "4dfb812f4d", "7K3M-9QXR-2BTD"},
			{" 7k3m 9qxr--2btd ", "7K3M", "4dfb812f4d", "7K3M-9QXR-2BTD"},
			{"oOlL-iI00-1111", "0011", "0840008421", "0011-1100-1111"},
			{"0000-0000-0000", "0000", "0000000000", "0000-0000-0000"},
			{"ZZZZ-ZZZZ-ZZZZ", "ZZZZ", "ffffffffff", "ZZZZ-ZZZZ-ZZZZ"},
			{"0000-0000-0001", "0000", "0000000001", "0000-0000-0001"},
			{"0000-G000-0000", "0000", "8000000000", "0000-G000-0000"},
		},
		Bad: []bad{
			{"empty", ""}, {"blanks and dashes only", " -- "}, {"slot only", "7K3M"}, {"one digit short", "7K3M-9QXR-2BT"},
			{"one digit long", "7K3M-9QXR-2BTDD"}, {"letter U", "7K3M-9QXR-2BTU"}, {"underscore", "7K3M_9QXR_2BTD"},
			{"line end", "7K3M-9QXR-2BTD\n"}, {"tab", "7K3M\t9QXR-2BTD"}, {"dotless i", "7K3M-9QXR-2BTı"},
			{"full-width digit", "7K3M-9QXR-2BT７"}, {"sharp s", "7K3M-9QXR-2Bß"}, {"Kelvin sign", "7K3M-9QXR-2BT\u212a"},
			{"no-break space", "7K3M\u00a09QXR-2BTD"}, {"a URL", "https://relay.example/pair#7K3M-9QXR-2BTD"},
		},
	}
	checkFile(t, "codes.json", content)
	for _, c := range content.Good {
		got, err := pair.ParseCode(c.Text)
		if err != nil {
			t.Errorf("ParseCode(%q): %v", c.Text, err)
			continue
		}
		if got.Slot() != c.Slot || got.Reveal() != c.Reveal {
			t.Errorf("ParseCode(%q) = %s %s", c.Text, got.Slot(), got.Reveal())
		}
		if secret := revealedSecret(t, got); secret != c.Secret {
			t.Errorf("ParseCode(%q): secret %s, want %s", c.Text, secret, c.Secret)
		}
	}
	for _, c := range content.Bad {
		if _, err := pair.ParseCode(c.Input); !errors.Is(err, pair.ErrCode) {
			t.Errorf("%s: ParseCode(%q) = %v, want ErrCode", c.Why, c.Input, err)
		}
	}
}

// revealedSecret reads the secret's bits off the printed code, by another way
// than the package does.
func revealedSecret(t *testing.T, code pair.Code) string {
	t.Helper()
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	secret, bits, held := []byte{}, 0, 0
	for _, digit := range strings.ReplaceAll(code.Reveal(), "-", "")[4:] {
		held, bits = held<<5|strings.IndexRune(alphabet, digit), bits+5
		if bits >= 8 {
			bits -= 8
			secret = append(secret, byte(held>>bits))
			held &= 1<<bits - 1
		}
	}
	return hex.EncodeToString(secret)
}
