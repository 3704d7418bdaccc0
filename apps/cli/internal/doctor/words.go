package doctor

// Name is the stable name of a step.
type Name string

// The steps of both chains. StepPage and StepNetwork are the browser's: it does not
// tell name lookup, connection and TLS apart.
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
)

// titles names each step for people. They are neutral, for they stand beside good
// news and bad.
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
	StepPresence: "Presence",
	StepChannel:  "Channel",
	StepSeal:     "Seal",
	StepAPI:      "Host",
}

// Finding is the stable name of something that is wrong. It begins with the name of
// its step.
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
)

// hints says what to do. They are written for whoever sits in front of the entry,
// in a browser or a terminal.
var hints = map[Finding]string{
	URLBad:   "Write it as in https://relay.example, with nothing before the name and nothing behind it.",
	URLPlain: "Use https:// when the relay is not on this machine: over http:// everybody on the way sees who logs in, and browsers give the page no keys.",

	DNSUnknown: "Check the spelling of the name, and that this machine is on the network that knows it.",
	DNSFailed:  "No name server answered: check this machine's network and its DNS settings.",

	TCPRefused: "Nothing listens there: start the relay, or correct the port in its address. If it is a proxy, correct the variable that names it, or list the relay in NO_PROXY.",
	TCPSilent:  "Nothing answers there: check that the machine is up and that no firewall drops the connection.",
	TCPNoRoute: "There is no way there: check this machine's network, and the VPN if the relay is behind one.",
	TCPPartly:  "It works over another address, but slowly at times: the relay's operator should repair or remove the addresses that do not answer.",

	ProxyBad:     "Correct the variable HTTPS_PROXY: it looks like http://proxy.example:3128.",
	ProxyLogin:   "Put the user name and the password for the proxy into HTTPS_PROXY, as in http://user:password@proxy.example:3128.",
	ProxyRefused: "Ask whoever runs the proxy to allow connections to the relay, or list the relay in NO_PROXY if it can be reached without the proxy.",
	ProxyFailed:  "The proxy does not get through to the relay: check the relay's address, or list it in NO_PROXY if it can be reached without the proxy.",
	ProxyUnseen:  "Nothing needs to be done if the next steps are well. If they are not, suspect the proxy first.",

	TLSNone:      "The server does not speak TLS on this port: use the port that does, or http:// if the relay is on this machine.",
	TLSName:      "Use one of the certificate's names as the address, or give the relay a certificate for this name.",
	TLSExpired:   "The relay's operator must renew the certificate. If others find it valid, set this machine's clock right.",
	TLSEarly:     "Set this machine's clock right. If it is right, the clock of whoever made the certificate was not.",
	TLSUntrusted: "Give the relay a certificate of an authority that is trusted here, or add its issuer to the trusted ones of this machine. If it was trusted before, somebody may stand in between: do not go on.",
	TLSSoon:      "The relay's operator should renew the certificate: nobody gets in once it has expired.",
	TLSFailed:    "The two sides could not agree on TLS: check that the port is that of the relay, and that nothing on the way interferes.",

	PageOld:       "Reload the page: the relay serves a newer one.",
	NetworkFailed: "Check this device's network. Then open the relay's address in a new tab: the browser says more there, for example about its certificate.",

	RelaySilent:  "Something accepts connections and says nothing: check that the port is that of the relay; restart the relay if it hangs.",
	RelayOther:   "Some other server answers there: correct the address, or tell the proxy in front of the relay to pass WebSockets on (docs/operations.md).",
	RelayName:    "The relay's operator must list this address with --public-url, or you must use an address that is listed.",
	RelayBusy:    "Try again later; if it stays so, the relay's operator must make room or bring back what it needs.",
	RelayRate:    "Wait a minute and try again.",
	RelayVersion: "The older of the two must be updated: the relay or this client.",
	RelayFailing: "The relay's operator should look at its log.",
	RelayLost:    "The server hung up: look at the log of the relay, and of the proxy in front of it.",
	RelaySocket:  "The server answers, but no WebSocket comes through: something on the way may block it, or the proxy in front of the relay does not pass it on (docs/operations.md).",

	LoginKeys:        "Without its keys this client cannot prove who it is: restore the key file, or delete it and pair again.",
	LoginName:        "The relay's operator must list this address with --public-url, or you must use an address that is listed.",
	LoginProof:       "The keys of this client are damaged: restore them, or delete them and pair again.",
	LoginVersion:     "The older of the two must be updated: the relay or this client.",
	LoginRate:        "Wait a minute and try again.",
	LoginUnavailable: "The relay cannot look up its pairings now: try again later; if it stays so, its operator must look at its store.",
	LoginRefused:     "Ask the relay's operator to let this client in.",
	LoginBroken:      "One of the two does not keep to the protocol: update both. If it stays so, do not trust this relay.",
	LoginLost:        "The relay hung up before the login was done: look at its log, and at that of the proxy in front of it.",

	ClockSkew: "Set the clock that is wrong, best by NTP: certificates and pairing codes depend on it.",

	BindingMissing: "The pairing was removed, at the relay or on the machine: pair again.",
	BindingKeys:    "Do not trust this relay: it may be trying to stand in between. Pair again through one that you trust.",

	PresenceOffline: "Wake the machine, or start scorel on it with `scorel host serve`; `scorel host status` there says whether it reaches the relay.",

	ChannelOffline: "The machine went away just now: check that it stays awake and that its network is steady.",
	ChannelRefused: "The pairing was removed, at the relay or on the machine: pair again.",
	ChannelLimit:   "Close other windows that use this machine, wait a minute, and try again.",
	ChannelFailed:  "Try again; if it stays so, the relay's operator should look at its log.",

	SealRemoved: "This client was removed on the machine: pair again.",
	SealBroken:  "Try again. If it stays so, the keys are not those of the pairing, or something on the way changes what is sent: pair again, through a relay that you trust.",
	SealSilent:  "The host does not answer. On the machine, start it anew with `scorel host serve --replace`.",
	SealLost:    "The channel ended under way: check that the machine stays awake and that its network is steady.",

	APIRefused: "The host refused: this client was given no right to look. Pair again.",
	APISilent:  "The host does not answer. On the machine, start it anew with `scorel host serve --replace`.",
}

// vocabulary is what the web UI shares.
type vocabulary struct {
	Steps map[Name]string    `json:"steps"`
	Hints map[Finding]string `json:"hints"`
}

// words returns the vocabulary of both chains.
func words() vocabulary { return vocabulary{titles, hints} }
