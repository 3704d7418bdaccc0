package models

import (
	"net/url"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/api"
)

// checkAddress decides where a request may have the key and the prompts of a provider sent:
// to servers of the internet by https, and to this machine. Those of its network are only for a
// sender that is here, so that no other client calls them. publicOnly says that a name must lead
// to a public address whenever it is dialed.
func checkAddress(address string, here bool) (publicOnly bool, err error) {
	if address == "" { // that of the type
		return false, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return false, api.Errorf(api.KindBadRequest, "%.200q is not an address such as https://example.com/v1", address)
	case u.User != nil:
		return false, api.Errorf(api.KindBadRequest, "the address must not contain a user name or password: save a key instead")
	case strings.ContainsAny(address, "?#"): // the paths of requests are appended
		return false, api.Errorf(api.KindBadRequest, "the address must end with its path, without ? and #")
	case loopback.Is(u.Host):
		return false, nil
	}
	near := publicnet.CheckHost(u.Hostname()) != nil
	switch {
	case near && !here:
		return false, api.Errorf(api.KindNotAllowed, "%s is an address of a local network, which only a person on the machine itself can set: add it there with `scorel model provider add`", u.Host)
	case u.Scheme == "http" && !near:
		return false, api.Errorf(api.KindBadRequest, "http://%s would send the key and all prompts unencrypted: use https", u.Host)
	}
	return !here, nil
}
