package doctor

// Name is the stable name of a step.
type Name string

// The steps of both chains. StepPage and StepNetwork are the browser's, which cannot
// distinguish name lookup, connection and TLS.
const (
	StepURL      Name = "url"
	StepDNS      Name = "dns"
	StepTCP      Name = "tcp"
	StepProxy    Name = "proxy"
	StepTLS      Name = "tls"
	StepPage     Name = "page"
	StepNetwork  Name = "network"
	StepRelay    Name = "relay"
	StepLogin    Name = "login"
	StepClock    Name = "clock"
	StepBinding  Name = "binding"
	StepPresence Name = "presence"
	StepChannel  Name = "channel"
	StepSeal     Name = "seal"
	StepAPI      Name = "api"
	StepPaths    Name = "paths" // of all paths to a machine
)

// titles names each step for people. The titles are neutral, because they appear with good
// and bad results.
var titles = map[Name]string{
	StepURL:      "Address",
	StepDNS:      "Name",
	StepTCP:      "Connection",
	StepProxy:    "Proxy",
	StepTLS:      "TLS",
	StepPage:     "This page",
	StepNetwork:  "Network",
	StepRelay:    "Relay",
	StepLogin:    "Login",
	StepClock:    "Clock",
	StepBinding:  "Pairing",
	StepPresence: "Online status",
	StepChannel:  "Channel",
	StepSeal:     "Seal",
	StepAPI:      "Host",
	StepPaths:    "Paths",
}

// Finding is the stable name of a problem. It begins with the name of its step.
type Finding string

// The findings of the whole chain.
const (
	URLBad           Finding = "url_bad"
	URLPlain         Finding = "url_plain"
	DNSUnknown       Finding = "dns_unknown"
	DNSFailed        Finding = "dns_failed"
	TCPRefused       Finding = "tcp_refused"
	TCPSilent        Finding = "tcp_silent"
	TCPNoRoute       Finding = "tcp_no_route"
	TCPPartly        Finding = "tcp_partly"
	ProxyBad         Finding = "proxy_bad"
	ProxyLogin       Finding = "proxy_login"
	ProxyRefused     Finding = "proxy_refused"
	ProxyFailed      Finding = "proxy_failed"
	ProxyUnseen      Finding = "proxy_unseen"
	TLSNone          Finding = "tls_none"
	TLSName          Finding = "tls_name"
	TLSExpired       Finding = "tls_expired"
	TLSEarly         Finding = "tls_early"
	TLSUntrusted     Finding = "tls_untrusted"
	TLSSoon          Finding = "tls_soon"
	TLSFailed        Finding = "tls_failed"
	PageOld          Finding = "page_old"
	NetworkFailed    Finding = "network_failed"
	RelaySilent      Finding = "relay_silent"
	RelayOther       Finding = "relay_other"
	RelayName        Finding = "relay_name"
	RelayBusy        Finding = "relay_busy"
	RelayRate        Finding = "relay_rate"
	RelayVersion     Finding = "relay_version"
	RelayFailing     Finding = "relay_failing"
	RelayLost        Finding = "relay_lost"
	RelaySocket      Finding = "relay_socket"
	RelayOrigin      Finding = "relay_origin"
	LoginKeys        Finding = "login_keys"
	LoginName        Finding = "login_name"
	LoginProof       Finding = "login_proof"
	LoginVersion     Finding = "login_version"
	LoginRate        Finding = "login_rate"
	LoginUnavailable Finding = "login_unavailable"
	LoginRefused     Finding = "login_refused"
	LoginBroken      Finding = "login_broken"
	LoginLost        Finding = "login_lost"
	ClockSkew        Finding = "clock_skew"
	BindingMissing   Finding = "binding_missing"
	BindingKeys      Finding = "binding_keys"
	BindingNew       Finding = "binding_new"
	PresenceOffline  Finding = "presence_offline"
	ChannelOffline   Finding = "channel_offline"
	ChannelRefused   Finding = "channel_refused"
	ChannelLimit     Finding = "channel_limit"
	ChannelFailed    Finding = "channel_failed"
	SealRemoved      Finding = "seal_removed"
	SealBroken       Finding = "seal_broken"
	SealSilent       Finding = "seal_silent"
	SealLost         Finding = "seal_lost"
	APIRefused       Finding = "api_refused"
	APISilent        Finding = "api_silent"
	APIStore         Finding = "api_store"
	PathsPartly      Finding = "paths_partly"
	PathsNone        Finding = "paths_none"
)

// hints says what to do. The hints are written for the person using the entry, in a browser
// or a terminal.
var hints = map[Finding]string{
	URLBad:   "Write it like https://relay.example, with nothing before or after it.",
	URLPlain: "Use https:// when the relay is not on this machine: over http:// anyone on the network can see who logs in, and browsers do not allow the page to use keys.",

	DNSUnknown: "Check the spelling of the name, and that this machine is on a network that can resolve it.",
	DNSFailed:  "No name server answered: check this machine's network and its DNS settings.",

	TCPRefused: "Connections are refused: start the relay, or correct the port in its address. If it is a proxy, correct the variable that names it, or list the relay in NO_PROXY.",
	TCPSilent:  "No response: check that the machine is up and that no firewall drops the connection.",
	TCPNoRoute: "No route to the address: check this machine's network, and the VPN if the relay is behind one.",
	TCPPartly:  "Another address works, but connecting may be slow: the relay's operator should repair or remove the addresses that do not respond.",

	ProxyBad:     "Correct the variable HTTPS_PROXY: it looks like http://proxy.example:3128.",
	ProxyLogin:   "Put the user name and the password for the proxy into HTTPS_PROXY, as in http://user:password@proxy.example:3128.",
	ProxyRefused: "Ask the operator of the proxy to allow connections to the relay, or list the relay in NO_PROXY if it can be reached without the proxy.",
	ProxyFailed:  "The proxy cannot reach the relay: check the relay's address, or list it in NO_PROXY if it can be reached without the proxy.",
	ProxyUnseen:  "No action is needed if the next steps succeed. If they fail, check the proxy first.",

	TLSNone:      "The server does not speak TLS on this port: use the port that does, or http:// if the relay is on this machine.",
	TLSName:      "Use one of the certificate's names as the address, or give the relay a certificate for this name.",
	TLSExpired:   "The relay's operator must renew the certificate. If it is valid elsewhere, correct this machine's clock.",
	TLSEarly:     "Correct this machine's clock. If it is correct, the certificate was issued with a wrong clock.",
	TLSUntrusted: "Give the relay a certificate from an authority that this machine trusts, or add its issuer to the trusted authorities. If it was trusted before, the connection may be intercepted: do not continue.",
	TLSSoon:      "The relay's operator should renew the certificate: connections fail once it has expired.",
	TLSFailed:    "The two sides could not agree on TLS: check that the port belongs to the relay, and that nothing in between interferes.",

	PageOld:       "Reload the page: the relay serves a newer one.",
	NetworkFailed: "Check this device's network. Then open the relay's address in a new tab: the browser shows more details there, for example about its certificate.",

	RelaySilent:  "Connections are accepted, but nothing responds: check that the port belongs to the relay; restart the relay if it hangs.",
	RelayOther:   "Another server responds: correct the address, or configure the proxy in front of the relay to forward WebSockets (docs/reverse-proxies.md).",
	RelayName:    "The relay's operator must list this address with --public-url, or you must use an address that is listed.",
	RelayBusy:    "Try again later. If it persists, the relay's operator must add capacity or restore the services that the relay needs.",
	RelayRate:    "Wait a minute and try again.",
	RelayVersion: "The older of the two must be updated: the relay or this client.",
	RelayFailing: "The relay's operator should check its log.",
	RelayLost:    "The server closed the connection: look at the log of the relay, and of the proxy in front of it.",
	RelayOrigin:  "If the relay runs and can be reached, its operator may have to add the address of this page to allowed_origins (docs/paths.md).",
	RelaySocket:  "The server responds, but WebSockets fail: something in between may block them, or the proxy in front of the relay does not forward them (docs/reverse-proxies.md).",

	LoginKeys:        "Without its keys this client cannot prove who it is: restore the key file, or delete it and pair again.",
	LoginName:        "The relay's operator must list this address with --public-url, or you must use an address that is listed.",
	LoginProof:       "The keys of this client are damaged: restore them, or delete them and pair again.",
	LoginVersion:     "The older of the two must be updated: the relay or this client.",
	LoginRate:        "Wait a minute and try again.",
	LoginUnavailable: "The relay cannot look up its pairings now: try again later. If it persists, its operator must check its store.",
	LoginRefused:     "Ask the relay's operator to allow this client.",
	LoginBroken:      "The relay or this client violates the protocol: update both. If it persists, do not trust this relay.",
	LoginLost:        "The relay closed the connection during the login: look at its log, and at that of the proxy in front of it.",

	ClockSkew: "Correct the clock that is wrong, preferably with NTP: certificates and pairing codes depend on it.",

	BindingMissing: "The pairing was removed, at the relay or on the machine: pair again.",
	BindingKeys:    "Do not trust this relay: it may be intercepting the connection. Pair again through a relay that you trust.",
	BindingNew:     "Connect to the machine once over another path: the pairing is then added here without a code.",

	PresenceOffline: "Wake the machine, or start scorel on it with `scorel host serve`; `scorel host status` there shows whether it can reach the relay.",

	ChannelOffline: "The machine just went offline: check that it stays awake and that its network is stable.",
	ChannelRefused: "The pairing was removed, at the relay or on the machine: pair again.",
	ChannelLimit:   "Close other windows that use this machine, wait a minute, and try again.",
	ChannelFailed:  "Try again. If it persists, the relay's operator should check its log.",

	SealRemoved: "This client was removed on the machine: pair again.",
	SealBroken:  "Try again. If it persists, the keys differ from those of the pairing, or something in between changes the data: pair again through a relay that you trust.",
	SealSilent:  "The host does not answer. On the machine, restart it with `scorel host serve --replace`.",
	SealLost:    "The channel was interrupted: check that the machine stays awake and that its network is stable.",

	APIRefused: "The host refused: this client has no permission to view it. Pair again.",
	APISilent:  "The host does not answer. On the machine, restart it with `scorel host serve --replace`.",
	APIStore:   "Start the database, or correct its address and restart the host. Its sessions become available without a restart when the database answers.",

	PathsPartly: "The machine can be reached. The failed paths are needed only if the others fail: see their hints.",
	PathsNone:   "No path reaches the machine: begin with the path that you expect to work, and follow its hint.",
}

// vocabulary is shared with the web UI.
type vocabulary struct {
	Steps map[Name]string    `json:"steps"`
	Hints map[Finding]string `json:"hints"`
}

// words returns the vocabulary of both chains.
func words() vocabulary { return vocabulary{titles, hints} }
