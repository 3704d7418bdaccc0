package tool

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// PrivateAddress is an address or a network that is not public, at one port or at all.
type PrivateAddress struct {
	Prefix netip.Prefix
	Port   uint16 // 0 is every port
}

// ParsePrivateAddress reads an address or a network, each with a port or without one:
// 127.0.0.1:8080, 10.0.0.0/8, [::1]:3000, fd00::/8. A name is refused: whoever
// answers for it decides where it leads. The error ends a sentence.
func ParsePrivateAddress(text string) (PrivateAddress, error) {
	address, port, err := cutPort(text)
	if err != nil {
		return PrivateAddress{}, err
	}
	p := PrivateAddress{Port: port}
	if ip, err := netip.ParseAddr(address); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		p.Prefix = netip.PrefixFrom(ip, ip.BitLen())
	} else if p.Prefix, err = netip.ParsePrefix(address); err != nil {
		return p, fmt.Errorf("%q is no address: write it as in 127.0.0.1:8080, 10.0.0.0/8 or [::1]:3000", text)
	}
	if p.Prefix.Bits() == 0 {
		return p, fmt.Errorf("%q is every address there is: name those that are meant", text)
	}
	if p.Prefix != p.Prefix.Masked() {
		return p, fmt.Errorf("%q names an address in a network: write %s for the network", text, p.Prefix.Masked())
	}
	return p, nil
}

// cutPort takes the port off an address or a network; 0 is none.
func cutPort(text string) (address string, port uint16, err error) {
	address, digits := text, ""
	if inside, after, ok := strings.Cut(text, "]"); ok && strings.HasPrefix(inside, "[") {
		address, digits = inside[1:], after
		if after != "" && !strings.HasPrefix(after, ":") {
			return "", 0, fmt.Errorf("%q is no address: write it as in [::1]:3000", text)
		}
		digits = strings.TrimPrefix(after, ":")
		if after == "" {
			return address, 0, nil
		}
	} else if strings.Count(text, ":") == 1 {
		address, digits, _ = strings.Cut(text, ":")
	} else {
		return address, 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%q has no port between 1 and 65535 behind the address", text)
	}
	return address, uint16(n), nil
}

// opens tells whether target is among the addresses.
func (p PrivateAddress) opens(target netip.AddrPort) bool {
	return p.Prefix.Contains(target.Addr()) && (p.Port == 0 || p.Port == target.Port())
}
