package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "github.com/scorel/scorel/"

// importRule restricts the packages that match path. Of this repository's packages they
// may import only their own and those listed. "x/..." matches x and everything below it.
type importRule struct {
	path   string
	may    []string
	reason string
}

// importRules is the table of import rules; the first rule that matches a package applies.
// Inside a Go workspace, modules do not restrict imports, so this table does.
var importRules = []importRule{
	{"packages/protocol/cmd/...", []string{"packages/protocol/..."},
		"the generator reads every type that travels"},
	{"packages/protocol/exactjson", nil, "text and types, independent of the protocol"},
	{"packages/protocol/ident", nil, "identities depend on nothing else"},
	{"packages/protocol/session", []string{"packages/protocol/exactjson"}, "the log's format is pure: the type on disk is the type on the wire"},
	{"packages/protocol/wire", []string{"packages/protocol/exactjson", "packages/protocol/ident"}, "the relay's part of the protocol must not import the sealed part"},
	{"packages/protocol/pair/stretch", nil, "a derivation is pure computation"},
	{"packages/protocol/pair", []string{"packages/protocol/ident", "packages/protocol/pair/stretch", "packages/protocol/wire"},
		"the ceremony uses keys and slots, but no transport"},
	{"packages/protocol/seal", []string{"packages/protocol/ident"}, "bytes in, bytes out"},
	{"packages/protocol/api", []string{"packages/protocol/exactjson", "packages/protocol/ident", "packages/protocol/session"},
		"sealed messages do not depend on their transport"},
	{"packages/protocol/proof", []string{"packages/protocol/api", "packages/protocol/ident", "packages/protocol/session"},
		"a proof depends only on the bytes of the log"},
	{"packages/protocol/guest", []string{"packages/protocol/ident"}, "a link is keys and text, and knows no transport"},
	{"packages/protocol/openapi", nil, "a document"},
	{"packages/protocol/visible", nil, "text is text, wherever it comes from"},
	{"packages/protocol", nil, "the map of the protocol imports nothing"},
	{"packages/client/relayconn", []string{"packages/protocol/wire", "packages/protocol/ident"},
		"a connection to a relay carries records that it cannot open"},
	{"packages/acp", []string{"packages/protocol/exactjson"}, "the protocol of agents and editors is not ours: it knows no session and no host"},
	{"packages/trace/...", nil, "spans have words and numbers, and know nothing of sessions"},
	{"packages/mdns/mdnstest", []string{"packages/mdns"}, "tests only"},
	{"packages/mdns", []string{"packages/protocol/ident"}, "answers of a local network are addresses to try, and nothing else"},
	{"packages/client/paths", []string{"packages/client", "packages/client/relayconn", "packages/mdns", "packages/protocol/api", "packages/protocol/ident", "packages/protocol/wire"},
		"paths are chosen by what is known about them; what is stored, and what is sent, is decided above"},
	{"packages/client", []string{"packages/client/relayconn", "packages/protocol/..."},
		"a client uses every layer of the protocol, and nothing else"},
	{"packages/pgpool", nil, "a database's address and errors: the relay is built with it, so it must import none of our packages"},
	{"packages/keyfile/keystore/keystoretest", []string{"packages/dbustest"}, "tests only"},
	{"packages/keyfile", []string{"packages/protocol/exactjson", "packages/atomicfile", "packages/keyfile/keystore", "packages/protocol/ident"}, "keys in a file, or in the system's key store"},
	{"packages/release/...", []string{"packages/release/...", "packages/protocol/exactjson"}, "a release is files and a signature over them; what is updated with it is decided above"},
	{"packages/...", nil, "helpers are used everywhere and depend on nothing"},
	{"apps/relay/internal/loop", nil, "it runs functions, whatever they do"},
	{"apps/relay/internal/bufpool", nil, "buffers hold bytes of any kind"},
	{"apps/relay/internal/authority", nil, "names and addresses are compared as text"},
	{"apps/relay/internal/webui", nil, "the web UI is files"},
	{"apps/relay/internal/metrics", []string{"packages/protocol/ident", "packages/protocol/wire"},
		"metrics count; labels are roles, kinds and reasons, never an id or an address"},
	{"apps/relay/internal/limits", []string{"packages/protocol/ident", "packages/protocol/wire"},
		"limits depend on the requester and the rate, not on the request"},
	{"apps/relay/internal/memory", []string{"apps/relay/internal/bufpool"}, "memory is bytes, whatever they hold"},
	{"apps/relay/internal/ws/wstest", []string{"apps/relay/internal/ws"}, "tests act as a peer, frame by frame"},
	{"apps/relay/internal/ws", []string{"apps/relay/internal/bufpool"}, "a WebSocket carries any message"},
	{"apps/relay/internal/queue", []string{"apps/relay/internal/bufpool", "apps/relay/internal/memory", "apps/relay/internal/ws", "packages/protocol/wire"},
		"a queue holds frames and records; it does not know the peers"},
	{"apps/relay/internal/channel", []string{"apps/relay/internal/metrics", "apps/relay/internal/queue", "apps/relay/internal/ws", "packages/protocol/ident", "packages/protocol/wire"},
		"a channel joins two ends; it does not know who may open it"},
	{"apps/relay/internal/conn/conntest", []string{"apps/relay/internal/authority", "apps/relay/internal/bufpool", "apps/relay/internal/conn", "apps/relay/internal/limits",
		"apps/relay/internal/memory", "apps/relay/internal/metrics", "apps/relay/internal/queue", "apps/relay/internal/ws", "apps/relay/internal/ws/wstest",
		"packages/protocol/ident", "packages/protocol/wire"},
		"tests log peers in to the parts behind a connection"},
	{"apps/relay/internal/conn", []string{"apps/relay/internal/authority", "apps/relay/internal/bufpool", "apps/relay/internal/channel",
		"apps/relay/internal/limits", "apps/relay/internal/memory", "apps/relay/internal/metrics", "apps/relay/internal/queue", "apps/relay/internal/ws",
		"packages/protocol/ident", "packages/protocol/wire"},
		"a connection serves one peer; what the peer may do is decided behind an interface"},
	{"apps/relay/internal/cluster", []string{"apps/relay/bus", "apps/relay/internal/bufpool", "apps/relay/internal/channel", "apps/relay/internal/metrics",
		"apps/relay/internal/queue", "apps/relay/internal/ws", "packages/protocol/exactjson", "packages/protocol/ident", "packages/protocol/wire"},
		"nodes carry notices and channels; what a notice means is decided behind an interface"},
	{"apps/relay/internal/directory", []string{"apps/relay/bus", "apps/relay/internal/channel", "apps/relay/internal/cluster", "apps/relay/internal/conn",
		"apps/relay/internal/limits", "apps/relay/internal/loop", "apps/relay/internal/memory", "apps/relay/internal/metrics", "apps/relay/internal/ws",
		"apps/relay/store", "packages/protocol/ident", "packages/protocol/wire"},
		"the directory knows connections, nodes and bindings, but no pairings"},
	{"apps/relay/internal/pairing", []string{"apps/relay/bus", "apps/relay/internal/cluster", "apps/relay/internal/conn", "apps/relay/internal/directory",
		"apps/relay/internal/limits", "apps/relay/internal/loop", "apps/relay/internal/metrics", "apps/relay/store", "packages/protocol/ident", "packages/protocol/wire"},
		"a pairing ends in a binding, which the directory keeps"},
	{"apps/relay/bus/...", nil, "a bus carries bytes between nodes"},
	{"apps/relay/store/...", []string{"packages/protocol/exactjson", "packages/protocol/ident", "packages/protocol/wire", "packages/pgpool"},
		"a store keeps ids, keys, labels and bindings"},
	{"apps/relay/serve/...", []string{"apps/relay", "apps/relay/bus/...", "apps/relay/store/storeurl", "packages/protocol/ident"},
		"a process runs the relay as any program would: through its public API"},
	{"apps/relay/relaytest/...", []string{"apps/relay", "apps/relay/serve", "apps/relay/store", "apps/relay/store/sqlite", "packages/protocol/ident", "packages/protocol/wire"},
		"tests run a real relay and act as its peers"},
	{"apps/relay/cmd/...", []string{"apps/relay/serve", "apps/relay/store/storeurl"}, "a command reads flags and runs the process"},
	{"apps/relay/faults", nil, "tests only"},
	{"apps/relay", []string{"apps/relay/bus", "apps/relay/internal/...", "apps/relay/store", "packages/protocol/ident", "packages/protocol/wire"},
		"the build guarantees that the relay cannot read what it routes: it cannot seal, pair, or decode a request or a session"},
	{"apps/host/internal/agent/...", []string{"packages/protocol/exactjson", "packages/protocol/session", "packages/protocol/api"},
		"the turn loop knows neither storage nor network nor interface"},
	{"apps/host/internal/permission/...", []string{"packages/protocol/api", "apps/host/internal/pathname"},
		"an approval is decided on the host, whoever asks"},
	{"apps/host/internal/model/...", []string{"apps/host/internal/agent", "packages/protocol/session"},
		"a provider turns a stream into messages and nothing else"},
	{"apps/host/internal/instructions/...", []string{"packages/protocol/session"},
		"files written by people, which are only read"},
	{"apps/host/internal/definition", []string{"apps/host/internal/instructions", "packages/protocol/session"},
		"files written by people, which are only read"},
	{"apps/host/internal/skill", []string{"apps/host/internal/definition", "packages/protocol/session"},
		"files written by people, which are only read"},
	{"apps/host/internal/agentdef", []string{"apps/host/internal/definition"},
		"files written by people, which are only read"},
	{"apps/host/internal/subagent", []string{"apps/host/internal/agent", "apps/host/internal/agentdef", "apps/host/internal/process", "apps/host/internal/sessions", "apps/host/internal/tool", "packages/protocol/session", "packages/protocol/api"},
		"subagents run in ordinary sessions; they know no connection"},
	{"apps/host/internal/procgroup", nil, "processes of the system"},
	{"apps/host/internal/process", []string{"packages/protocol/session", "packages/protocol/api"},
		"progress is for people: its sources know no session and no model"},
	{"apps/host/internal/picture", []string{"packages/protocol/session", "packages/protocol/api"},
		"images are judged by their bytes and the limits of the protocol"},
	{"apps/host/internal/transcripts", []string{"apps/host/internal/picture", "packages/protocol/exactjson", "packages/protocol/session"},
		"conversations of other agents are files that are only read; what becomes of them is decided above"},
	{"apps/host/internal/attached", nil, "attached files are files in a folder"},
	{"apps/host/internal/blobs", []string{"apps/host/internal/picture", "packages/protocol/session", "packages/protocol/api"},
		"uploads are independent of sessions: what a prompt has used belongs to its session"},
	{"apps/host/internal/backend/fakeagent", []string{"packages/acp"}, "tests act as the program of a vendor"},
	{"apps/host/internal/backend", []string{"apps/host/internal/agent", "apps/host/internal/dispatch", "apps/host/internal/procgroup", "packages/acp", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/session"},
		"another program is a runner of turns like the own loop: it knows no session and no store"},
	{"apps/host/internal/hook", []string{"apps/host/internal/procgroup", "apps/host/internal/state", "packages/protocol/exactjson", "packages/protocol/session", "packages/protocol/api"},
		"hooks are commands: what their answers mean for a turn is decided by its session"},
	{"apps/host/internal/extension", []string{"apps/host/internal/agentdef", "apps/host/internal/definition", "apps/host/internal/hook", "apps/host/internal/mcp", "apps/host/internal/procgroup", "apps/host/internal/skill", "apps/host/internal/state", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/session"},
		"what an extension holds is read as its parts are; what is used of it is decided here"},
	{"apps/host/internal/mcpauth", []string{"apps/host/internal/state", "packages/protocol/api"},
		"signs in to MCP servers with OAuth and gives their requests tokens; it knows neither processes nor sessions"},
	{"apps/host/internal/mcp", []string{"packages/protocol/exactjson", "apps/host/internal/agent", "apps/host/internal/mcpauth", "apps/host/internal/picture", "apps/host/internal/process", "apps/host/internal/procgroup", "apps/host/internal/state", "packages/atomicfile", "packages/protocol/session", "packages/protocol/api"},
		"servers provide tools; they know no session"},
	{"apps/host/internal/tool/...", []string{"apps/host/internal/agent", "apps/host/internal/picture", "apps/host/internal/process", "apps/host/internal/levenshtein", "apps/host/internal/definition", "apps/host/internal/memory", "apps/host/internal/pathname", "apps/host/internal/procgroup", "apps/host/internal/publicnet", "apps/host/internal/skill", "packages/protocol/session", "packages/protocol/api", "packages/atomicfile"},
		"a tool acts on files and processes; it knows no session"},
	{"apps/host/internal/sessions/read", []string{"apps/host/internal/agent", "packages/protocol/session", "packages/protocol/api"},
		"reading a log needs only its entries: nothing here can write"},
	{"apps/host/internal/sessions/window", []string{"packages/protocol/session", "packages/protocol/api"},
		"how much is sent at once depends only on sizes"},
	{"apps/host/internal/sessions/queue", []string{"apps/host/internal/permission", "packages/protocol/session", "packages/protocol/api"},
		"the result of an edit depends on the queue and on the editor"},
	{"apps/host/internal/sessions/pending", nil,
		"approvals and questions wait in the same way"},
	{"apps/host/internal/sessions/compact", []string{"apps/host/internal/tool/v4a", "packages/protocol/session"},
		"a summary is made from entries; only the files in a patch need its parser"},
	{"apps/host/internal/sessions/...", []string{"apps/host/internal/hook", "apps/host/internal/observe", "packages/protocol/exactjson", "apps/host/internal/agent", "apps/host/internal/picture", "apps/host/internal/process", "apps/host/internal/permission", "apps/host/internal/state", "packages/protocol/session", "packages/protocol/api", "packages/protocol/proof", "packages/protocol/ident", "packages/diskerror", "packages/pgpool", "packages/testdb"},
		"sessions own the log and run the agent; they know no connection"},
	{"apps/host/internal/gitrepo", []string{"packages/atomicfile", "packages/protocol/api", "packages/protocol/exactjson"},
		"git is run for people; what they may see is decided above"},
	{"apps/host/internal/files", []string{"apps/host/internal/dispatch", "apps/host/internal/gitrepo", "apps/host/internal/permission", "apps/host/internal/sessions", "apps/host/internal/state", "apps/host/internal/tool", "packages/protocol/api"},
		"requests about files see what the file tools could read"},
	{"apps/host/internal/worktrees", []string{"apps/host/internal/gitrepo", "apps/host/internal/sessions", "apps/host/internal/state", "packages/protocol/api"},
		"worktrees are folders that git makes for sessions; who may ask for one is decided above"},
	{"apps/host/internal/sandbox", []string{"apps/host/internal/procgroup"}, "a command's limits do not depend on its caller"},
	{"apps/host/internal/gitguard", nil, "files that git reads are compared as files"},
	{"apps/host/internal/memory", []string{"packages/atomicfile", "packages/protocol/session"},
		"notes are files; who may change them is decided above. The log records which ones a session was given"},
	{"apps/host/internal/levenshtein", nil, "arithmetic"},
	{"apps/host/internal/pathname", nil, "names as text; no file is opened"},
	{"apps/host/internal/outside", nil, "text from outside is marked as such, whoever brings it"},
	{"apps/host/internal/state/...", []string{"packages/protocol/exactjson", "apps/host/internal/levenshtein", "packages/atomicfile", "packages/keyfile/keystore", "packages/protocol/ident", "packages/protocol/api"},
		"files of the home, and no running parts"},
	{"apps/host/internal/dispatch", []string{"apps/host/internal/state", "packages/client", "packages/diskerror", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/ident", "packages/protocol/session", "packages/protocol/wire"},
		"a request is admitted by its name and a connection's grants; what it does is behind an endpoint. Of entries it knows their types, to leave some out for guests"},
	{"apps/host/internal/dispatch/dispatchtest", []string{"apps/host/internal/dispatch", "apps/host/internal/state", "packages/client", "packages/protocol/api"},
		"tests of handlers connect to them as clients do"},
	{"apps/host/internal/listener", nil, "connections are counted; requests and grants are decided above"},
	{"apps/host/internal/httpapi", []string{"apps/host/internal/dispatch", "apps/host/internal/listener", "apps/host/internal/schedule", "apps/host/internal/state", "packages/client", "packages/protocol/api", "packages/protocol/openapi", "packages/protocol/seal", "packages/protocol/session", "packages/protocol/wire"},
		"HTTP carries requests to the dispatcher, and knows no session, agent or relay"},
	{"apps/host/internal/sessionapi", []string{"apps/host/internal/agent", "apps/host/internal/attached", "apps/host/internal/blobs", "apps/host/internal/dispatch", "apps/host/internal/permission", "apps/host/internal/process", "apps/host/internal/sessions", "apps/host/internal/sessions/queue", "apps/host/internal/sessions/store", "apps/host/internal/signing", "apps/host/internal/state", "apps/host/internal/transcripts", "packages/protocol/api", "packages/protocol/proof", "packages/protocol/session"},
		"requests about sessions check the connection and call the session"},
	{"apps/host/internal/signing", []string{"apps/host/internal/dispatch", "apps/host/internal/state", "packages/keyfile", "packages/protocol/api", "packages/protocol/ident", "packages/protocol/proof", "packages/protocol/session"},
		"signatures depend on keys and on the approval shown"},
	{"apps/host/internal/stores", []string{"apps/host/internal/sessions/store", "apps/host/internal/sessions/store/file", "apps/host/internal/sessions/store/mysql", "apps/host/internal/sessions/store/outage", "apps/host/internal/sessions/store/places", "apps/host/internal/sessions/store/postgres", "apps/host/internal/sessions/store/rows", "apps/host/internal/state", "packages/protocol/api"},
		"session providers are opened as config.toml names them"},
	{"apps/host/internal/uplink", []string{"apps/host/internal/dispatch", "apps/host/internal/state", "packages/client", "packages/client/relayconn", "packages/protocol/api", "packages/protocol/ident", "packages/protocol/pair", "packages/protocol/seal", "packages/protocol/wire"},
		"the relay carries channels and pairings; their connections run in the dispatcher"},
	{"apps/host/internal/clients", []string{"apps/host/internal/dispatch", "apps/host/internal/state", "packages/protocol/api", "packages/protocol/ident", "packages/protocol/wire"},
		"who may reach the host is decided by its own lists"},
	{"apps/host/internal/terminal", []string{"apps/host/internal/dispatch", "apps/host/internal/procgroup", "apps/host/internal/state", "packages/protocol/api"},
		"shells belong to clients: no session, tool or model knows them"},
	{"apps/host/internal/moves", []string{"apps/host/internal/attached", "apps/host/internal/dispatch", "apps/host/internal/sessions", "apps/host/internal/sessions/store", "apps/host/internal/state", "packages/atomicfile", "packages/client", "packages/client/paths", "packages/keyfile", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/ident", "packages/protocol/proof", "packages/protocol/session", "packages/protocol/wire"},
		"a move takes a session from one host to another, as a client of that host"},
	{"apps/host/internal/schedule", []string{"apps/host/internal/dispatch", "apps/host/internal/outside", "apps/host/internal/permission", "apps/host/internal/sessions", "apps/host/internal/state", "packages/atomicfile", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/session"},
		"a schedule starts sessions as its author would; sessions do not know it"},
	{"apps/host/internal/push/pushtest", nil, "tests only: a push service that shares nothing with the sender"},
	{"apps/host/internal/publicnet", nil, "which addresses are public depends on nothing of the host"},
	{"apps/host/internal/push", []string{"apps/host/internal/publicnet", "packages/atomicfile", "packages/protocol/api"},
		"notifications are sent to addresses; who gets one is decided above"},
	{"apps/host/internal/attention", []string{"apps/host/internal/dispatch", "apps/host/internal/push", "apps/host/internal/sessions", "packages/atomicfile", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/wire", "packages/protocol/visible"},
		"who is notified depends on who looks and on settings; how is behind a channel"},
	{"apps/host/internal/channel", nil, "the contract of chat platforms: they move messages and know nothing of the host"},
	{"apps/host/internal/channel/platforms", []string{"apps/host/internal/channel", "apps/host/internal/channel/discord", "apps/host/internal/channel/qq", "apps/host/internal/channel/slack", "apps/host/internal/channel/telegram", "apps/host/internal/channel/webhook"},
		"the list of the platforms that are built in"},
	{"apps/host/internal/chats", []string{"apps/host/internal/channel", "apps/host/internal/channel/platforms", "apps/host/internal/dispatch", "apps/host/internal/outside", "apps/host/internal/publicnet", "apps/host/internal/state", "packages/atomicfile", "packages/client", "packages/protocol/api", "packages/protocol/exactjson", "packages/protocol/session", "packages/protocol/visible"},
		"a chat is a client of the host: it makes requests, and knows no session from inside"},
	{"apps/host/internal/channel/server", []string{"apps/host/internal/channel", "apps/host/internal/channel/wire"}, "a server of another program becomes a platform; how it is run is decided elsewhere"},
	{"apps/host/internal/channel/webhook", []string{"apps/host/internal/channel", "apps/host/internal/channel/wire"}, "a platform moves messages"},
	{"apps/host/internal/channel/served", []string{"apps/host/internal/channel", "apps/host/internal/channel/wire", "packages/atomicfile"}, "a platform is served to other programs, without a host"},
	{"apps/host/internal/channel/gateway/...", nil, "events of a gateway arrive; what they mean is read by a platform"},
	{"apps/host/internal/channel/discord", []string{"apps/host/internal/channel", "apps/host/internal/channel/gateway", "apps/host/internal/channel/restapi"}, "a platform moves messages"},
	{"apps/host/internal/channel/qq", []string{"apps/host/internal/channel", "apps/host/internal/channel/gateway", "apps/host/internal/channel/restapi"}, "a platform moves messages"},
	{"apps/host/internal/channel/slack", []string{"apps/host/internal/channel", "apps/host/internal/channel/restapi"}, "a platform moves messages"},
	{"apps/host/internal/channel/discord/discordtest", []string{"apps/host/internal/channel", "apps/host/internal/channel/channeltest", "apps/host/internal/channel/discord", "apps/host/internal/channel/gateway/gatewaytest"}, "a chat server for tests"},
	{"apps/host/internal/channel/qq/qqtest", []string{"apps/host/internal/channel", "apps/host/internal/channel/channeltest", "apps/host/internal/channel/gateway/gatewaytest", "apps/host/internal/channel/qq"}, "a chat server for tests"},
	{"apps/host/internal/channel/slack/slacktest", []string{"apps/host/internal/channel", "apps/host/internal/channel/channeltest", "apps/host/internal/channel/slack"}, "a chat server for tests"},
	{"apps/host/internal/channel/telegram/telegramtest", []string{"apps/host/internal/channel", "apps/host/internal/channel/channeltest", "apps/host/internal/channel/telegram"}, "a chat server for tests"},
	{"apps/host/internal/channel/webhook/webhooktest", []string{"apps/host/internal/channel", "apps/host/internal/channel/channeltest", "apps/host/internal/channel/webhook"}, "a chat server for tests"},
	{"apps/host/internal/channel/...", []string{"apps/host/internal/channel"}, "a platform moves messages; who is heard, and what is said, is decided above"},
	{"apps/host/internal/observe", []string{"packages/trace"}, "steps have words and numbers: whoever counts them knows nothing that people or models write"},
	{"apps/host/internal/awake", nil, "the system is asked not to sleep, whatever works"},
	{"apps/host/internal/awake/awaketest", []string{"packages/dbustest"}, "tests only"},
	{"apps/host/internal/machine", []string{"apps/host/internal/permission", "apps/host/internal/state"},
		"the file system and git are looked at, and nothing is decided"},
	{"apps/host/internal/rules", []string{"apps/host/internal/dispatch", "apps/host/internal/machine", "apps/host/internal/permission", "apps/host/internal/state", "apps/host/internal/tool", "packages/protocol/api", "packages/protocol/ident"},
		"rules depend on config.toml and on what people allowed"},
	{"apps/host/internal/projectcontext", []string{"apps/host/internal/agent", "apps/host/internal/definition", "apps/host/internal/instructions", "apps/host/internal/machine", "apps/host/internal/skill", "apps/host/internal/state", "packages/protocol/session"},
		"files of a project are read for a session, and know none"},
	{"apps/host/internal/projects", []string{"apps/host/internal/extension", "apps/host/internal/hook", "apps/host/internal/dispatch", "apps/host/internal/machine", "apps/host/internal/mcp", "apps/host/internal/memory", "apps/host/internal/skill", "apps/host/internal/state", "packages/protocol/api", "packages/protocol/session"},
		"requests about folders and what a person trusts in them"},
	{"apps/host/internal/models", []string{"apps/host/internal/agent", "apps/host/internal/dispatch", "apps/host/internal/model", "apps/host/internal/secrets", "apps/host/internal/sessions", "apps/host/internal/state", "packages/keyfile/keystore", "packages/protocol/api", "packages/protocol/session"},
		"models are made from config.toml; they know no session"},
	{"apps/host/internal/secrets", []string{"apps/host/internal/state", "packages/keyfile", "packages/keyfile/keystore", "packages/protocol/ident"},
		"keys are stored and moved; nothing here uses one"},
	{"apps/host/internal/hostapi", []string{"apps/host/internal/dispatch", "apps/host/internal/machine", "apps/host/internal/sandbox", "packages/protocol/api", "packages/protocol/ident", "packages/protocol/wire"},
		"the host describes itself from its parts, signs who may reach it, and is stopped by one function"},
	{"apps/host/internal/toolkit", []string{"apps/host/internal/agent", "apps/host/internal/mcp", "apps/host/internal/memory", "apps/host/internal/projectcontext", "apps/host/internal/state", "apps/host/internal/subagent", "apps/host/internal/tool", "packages/protocol/session"},
		"a session's tools are put together; what may run is decided elsewhere"},
	{"apps/host/internal/agents", []string{"apps/host/internal/agent", "apps/host/internal/agentdef", "apps/host/internal/definition", "apps/host/internal/dispatch", "apps/host/internal/levenshtein", "apps/host/internal/machine", "apps/host/internal/permission", "apps/host/internal/projectcontext", "apps/host/internal/rules", "apps/host/internal/sessions", "apps/host/internal/state", "apps/host/internal/subagent", "apps/host/internal/tool", "apps/host/internal/toolkit", "packages/atomicfile", "packages/protocol/api", "packages/protocol/session"},
		"agent definitions are read, checked and written; sessions run them"},
	{"apps/host/...", []string{"packages/...", "apps/host/internal/..."}, "the daemon wires its own parts and never sees the relay's"},
	{"apps/web/...", nil, "the page is files"},
	{"apps/cli/internal/sanitize", nil, "text is text, wherever it comes from"},
	{"apps/cli/internal/chat/feed", []string{"packages/client", "packages/protocol/api"},
		"a connection that is kept up; what is shown is decided above"},
	{"apps/cli/internal/chat/projection", []string{"packages/protocol/api", "packages/protocol/session"},
		"the state of a session follows from its events"},
	{"apps/cli/internal/chat/theme", nil, "colors"},
	{"apps/cli/internal/chat/markdown", []string{"apps/cli/internal/chat/theme", "apps/cli/internal/sanitize"}, "text becomes lines"},
	{"apps/cli/internal/chat/composer", []string{"apps/cli/internal/chat/markdown", "packages/protocol/api"}, "a field knows only its text"},
	{"apps/cli/internal/chat/transcript", []string{"apps/cli/internal/chat/markdown", "apps/cli/internal/chat/projection", "apps/cli/internal/chat/theme",
		"apps/cli/internal/sanitize", "packages/protocol/api", "packages/protocol/session"},
		"lines are made of the state of a session, without a connection"},
	{"apps/cli/internal/editors", []string{"apps/cli/internal/chat/feed", "apps/cli/internal/fence", "packages/acp", "packages/client", "packages/protocol/api", "packages/protocol/session", "packages/protocol/visible"},
		"an editor is served by a client like any other: it knows the protocol and nothing of the host's inside"},
	{"apps/cli/internal/chat", []string{"apps/cli/internal/chat/...", "apps/cli/internal/sanitize", "packages/client", "packages/protocol/api", "packages/protocol/session", "packages/protocol/visible"},
		"the terminal client is a client like any other: it knows the protocol and nothing of the host's inside"},
	{"apps/cli/internal/...", []string{"packages/..."}, "the command line's own parts use the client, not the servers"},
	{"apps/cli/...", []string{"apps/...", "packages/..."}, "the composition root wires everything"},
	{"apps/bench/...", []string{"apps/...", "packages/..."}, "benchmarks run everything that they measure"},
}

func holds(pattern, path string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == folder || strings.HasPrefix(path, folder+"/")
	}
	return path == pattern
}

func (r importRule) allows(path string) bool {
	return holds(r.path, path) || slices.ContainsFunc(r.may, func(pattern string) bool { return holds(pattern, path) })
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Doc string
	Imports, GoFiles     []string
}

var useLine = regexp.MustCompile(`(?m)^\s+(\./\S+)$`)

// listPackages lists the packages of every module in go.work.
func listPackages(t *testing.T) []listed {
	t.Helper()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(top, "go.work")
	text, err := os.ReadFile(work)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-json=ImportPath,Dir,Doc,Imports,GoFiles"}
	for _, use := range useLine.FindAllStringSubmatch(string(text), -1) {
		args = append(args, use[1]+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GOWORK="+work, "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportRules(t *testing.T) {
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, root)
		i := slices.IndexFunc(importRules, func(r importRule) bool { return holds(r.path, path) })
		if i < 0 {
			t.Errorf("no rule matches %s: add one to the table, with its reason", path)
			continue
		}
		for _, imported := range p.Imports {
			if theirs, ours := strings.CutPrefix(imported, root); ours && !importRules[i].allows(theirs) {
				t.Errorf("%s imports %s, but %s", path, theirs, importRules[i].reason)
			}
		}
	}
}

// TestPermissionsAreUsed fails for permissions in the table that no import uses.
func TestPermissionsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, root)
		i := slices.IndexFunc(importRules, func(r importRule) bool { return holds(r.path, path) })
		if i < 0 {
			continue // TestImportRules reports it
		}
		for _, imported := range p.Imports {
			for _, pattern := range importRules[i].may {
				if theirs, ours := strings.CutPrefix(imported, root); ours && holds(pattern, theirs) {
					used[importRules[i].path+" "+pattern] = true
				}
			}
		}
	}
	for _, r := range importRules {
		for _, pattern := range r.may {
			if r.path != "apps/bench/..." && !used[r.path+" "+pattern] { // a module outside go.work
				t.Errorf("%s may import %s but does not: remove the permission", r.path, pattern)
			}
		}
	}
}

// TestRelaySeesTwoPackages checks the most important rule for everything that the relay is
// built from, not only for direct imports: two packages of the protocol, and the helper
// that opens a database.
func TestRelaySeesTwoPackages(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range listPackages(t) {
		imports[p.ImportPath] = p.Imports
	}
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] || !strings.HasPrefix(path, root) {
			return
		}
		seen[path] = true
		for _, next := range imports[path] {
			visit(next)
		}
	}
	visit(root + "apps/relay/cmd/scorel-relay")
	if !seen[root+"apps/relay"] {
		t.Fatal("the relay's command does not reach the relay: the test checks the wrong package")
	}
	for path := range seen {
		short := strings.TrimPrefix(path, root)
		if !holds("apps/relay/...", short) && !slices.Contains([]string{"packages/protocol/exactjson", "packages/protocol/wire", "packages/protocol/ident", "packages/pgpool"}, short) {
			t.Errorf("the relay is built with %s", short)
		}
	}
}

func TestEveryPackageHasAContract(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", strings.TrimPrefix(p.ImportPath, root))
		}
	}
}

// TestNoHiddenState rejects init functions and package-level variables without a value:
// such a variable exists only to be changed.
func TestNoHiddenState(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if what := hiddenState(decl); what != "" {
					t.Errorf("%s: %s", path, what)
				}
			}
		}
	}
}

func hiddenState(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			return "func init: wire it by hand where the part is created"
		}
	case *ast.GenDecl:
		embedded := d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed") })
		if d.Tok != token.VAR || embedded {
			return ""
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == 0 {
				return "var " + v.Names[0].Name + ": state at package level; give it to a type that owns it"
			}
		}
	}
	return ""
}
