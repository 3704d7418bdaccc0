package agents

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/subagent"
)

// liveConfig follows what config.toml says about subagents. While the file cannot be used,
// the last usable version applies. It also knows which agents each folder had when they
// were last listed, so that clients are notified when a person changed a file.
type liveConfig struct {
	// Static after newLiveConfig.
	path    string
	load    func() (state.Config, error) // reads and checks the file
	changed func()                       // notifies the clients
	log     *slog.Logger

	mu      sync.Mutex
	good    state.Config      // the last one that could be used
	seen    [sha256.Size]byte // of the file when it was last read
	problem string            // why the file cannot be used; "" where it can
	found   map[string][sha256.Size]byte
}

func newLiveConfig(path string, good state.Config, log *slog.Logger, load func() (state.Config, error), changed func()) *liveConfig {
	return &liveConfig{
		path: path, load: load, changed: changed, log: log, good: good, seen: fingerprintOf(path), found: map[string][sha256.Size]byte{},
	}
}

// fingerprintOf returns the hash of a file's content, or of the error for a file that
// cannot be read.
func fingerprintOf(path string) [sha256.Size]byte {
	data, err := os.ReadFile(path)
	if err != nil {
		data = []byte(err.Error())
	}
	return sha256.Sum256(data)
}

// now returns the configuration whose limits of agents are in force, and why the file
// itself is not, or "".
func (c *liveConfig) now() (config state.Config, problem string) {
	config, problem, changed := c.refresh()
	if changed {
		c.changed()
	}
	return config, problem
}

// refresh reads the file if it changed. A file that could not be used is read each time,
// because it may name an agent that exists now.
func (c *liveConfig) refresh() (_ state.Config, problem string, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := fingerprintOf(c.path)
	if seen == c.seen && c.problem == "" {
		return c.good, "", false
	}
	c.seen = seen
	before := c.problem
	config, err := c.load()
	if err != nil {
		if c.problem = err.Error(); c.problem != before {
			c.log.Error("config.toml cannot be used; the previous limits of agents stay in effect", "error", err)
		}
		return c.good, c.problem, c.problem != before
	}
	changed = before != "" || !reflect.DeepEqual(config.Subagents, c.good.Subagents)
	c.good, c.problem = config, ""
	return c.good, "", changed
}

func (c *liveConfig) limits() subagent.Limits {
	config, _ := c.now()
	return subagentLimits(config.Subagents)
}

// notice notifies the clients when the agents of a folder changed since the last call.
func (c *liveConfig) notice(folder string, found agentdef.Found) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", found))
	c.mu.Lock()
	before, known := c.found[folder]
	c.found[folder] = sum
	c.mu.Unlock()
	if known && before != sum {
		c.changed()
	}
}

// agentsChanged notifies the clients that a request changed agents.
func (c *liveConfig) agentsChanged() {
	c.mu.Lock()
	clear(c.found) // so that the next listing does not notify again
	c.mu.Unlock()
	c.changed()
}
