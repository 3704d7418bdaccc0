package cluster

// happened applies an event to the state and performs the resulting actions. cause,
// which may be nil, is logged. Events that close channels must not come from the
// routing state's loop.
func (c *Cluster) happened(e Event, cause error) {
	c.mu.Lock()
	from := c.state
	do, ended := c.advance(e)
	to := c.state
	c.mu.Unlock()
	c.logChange(from, to, cause)
	if do.Has(BeatNow) {
		wake(c.kick)
	}
	if do.Has(CheckNow) {
		wake(c.check)
	}
	for _, t := range ended {
		t.shut(false)
		c.Handler.NodeLost(t.node)
	}
	if do.Has(CloseChannels) {
		c.Handler.CloseChannels()
	}
	if do.Has(RefreshPresence) {
		c.Handler.RefreshPresence()
	}
}

// advance changes the state and the fields that c.mu guards with it. It returns the
// remaining actions, to be done without c.mu. c.mu must be held.
func (c *Cluster) advance(e Event) (do Action, ended []*Trunk) {
	c.state, do = c.state.Next(e)
	if do.Has(EndEpoch) {
		ended = c.endEpoch()
	}
	if do.Has(ExcuseSilence) {
		c.excuseSilence()
	}
	if do.Has(AnnounceNews) {
		c.news++
	}
	return do, ended
}

// endEpoch takes the trunks of the epoch and begins the next one, if there were any. c.mu
// must be held.
func (c *Cluster) endEpoch() (ended []*Trunk) {
	for _, n := range c.nodes {
		n.expect = anySeq
		if n.trunk != nil {
			ended = append(ended, n.trunk)
			n.trunk = nil
		}
	}
	if len(ended) > 0 {
		c.epoch++
	}
	return ended
}

func (c *Cluster) logChange(from, to State, cause error) {
	switch {
	case from.Bus == Up && to.Bus == Down:
		c.Log.Warn("the bus cannot be reached; channels to other nodes close", "error", cause)
		c.Metrics.BusUp.Set(0)
	case from.Bus == Down && to.Bus == Up:
		c.Log.Info("the bus can be reached again")
		c.Metrics.BusUp.Set(1)
	}
	switch {
	case to.Blind && !from.Blind:
		c.Log.Error("revocations cannot be read from bus or store; all channels close")
	case from.Blind && !to.Blind:
		c.Log.Info("bindings can be checked again")
	}
}

// fail reports that a trunk of an epoch failed. Any goroutine may call it: the work is left
// to beatLoop.
func (c *Cluster) fail(epoch uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return
	}
	if do, _ := c.advance(TrunkBroke); do.Has(BeatNow) {
		wake(c.kick)
	}
}
