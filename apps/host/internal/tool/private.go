package tool

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// PrivateAddress is a non-public address or network, with one port or all ports.
type PrivateAddress struct {
	Prefix netip.Prefix
	Port   uint16 // 0 means every port
}

// ParsePrivateAddress parses an address or a network, with or without a port:
// 127.0.0.1:8080, 10.0.0.0/8, [::1]:3000, fd00::/8. Names are rejected, because whoever
// controls the name decides where it leads. The error is the end of a sentence.
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
		return p, fmt.Errorf("%q is not an address, such as 127.0.0.1:8080, 10.0.0.0/8 or [::1]:3000", text)
	}
	if p.Prefix.Bits() == 0 {
		return p, fmt.Errorf("%q covers every address: list the addresses you mean", text)
	}
	if p.Prefix != p.Prefix.Masked() {
		return p, fmt.Errorf("%q names an address in a network: write %s for the network", text, p.Prefix.Masked())
	}
	return p, nil
}

// cutPort splits off the port of an address or network; 0 if it has none.
func cutPort(text string) (address string, port uint16, err error) {
	address, digits := text, ""
	if inside, after, ok := strings.Cut(text, "]"); ok && strings.HasPrefix(inside, "[") {
		address, digits = inside[1:], after
		if after != "" && !strings.HasPrefix(after, ":") {
			return "", 0, fmt.Errorf("%q is not an address, such as [::1]:3000", text)
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
		return "", 0, fmt.Errorf("%q has no port between 1 and 65535 after the address", text)
	}
	return address, uint16(n), nil
}

// opens reports whether target is covered by p.
func (p PrivateAddress) opens(target netip.AddrPort) bool {
	return p.Prefix.Contains(target.Addr()) && (p.Port == 0 || p.Port == target.Port())
}
