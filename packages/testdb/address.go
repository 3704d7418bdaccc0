package testdb

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// Secret is the password in the addresses of CheckAddresses, and of PostgreSQL in a
// container.
const Secret = "hunter2"

// BadAddress is an unusable address and the text that its error must contain.
type BadAddress = struct{ Address, Want string }

// CheckAddresses opens unusable addresses, by name of the case: each error must
// contain the wanted text and no part of Secret in any form.
func CheckAddresses(t *testing.T, open func(t *testing.T, address string) error, cases map[string]BadAddress) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := open(t, tc.Address)
			if err == nil || !strings.Contains(err.Error(), tc.Want) {
				t.Errorf("%v, want %q", err, tc.Want)
			}
			for _, form := range []string{"%v", "%+v", "%#v"} {
				if strings.Contains(fmt.Sprintf(form, err), Secret[:4]) {
					t.Errorf("the password is in %q as %s", err, form)
				}
			}
		})
	}
}

// UnusedAddress returns an address on this machine, as net.Dial takes it, on which no
// program listens.
func UnusedAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
