package testdb

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// Secret is the password in addresses that CheckAddresses tries.
const Secret = "hunter2"

// BadAddress is an address that cannot be used, and what its error must hold.
type BadAddress = struct{ Address, Want string }

// CheckAddresses opens addresses that cannot be used, by name of the case: each
// error says what is wanted, and none has a part of Secret in any form.
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

// Nobody is an address on this machine, as net.Dial takes it, at which nothing
// listens.
func Nobody(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
