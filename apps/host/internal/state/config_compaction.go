package state

import (
	"errors"
	"fmt"
	"strings"
)

// Compaction configures when sessions are compacted, and what they keep.
type Compaction struct {
	// Share is the used share of the context window above which a session is compacted
	// automatically; 0 leaves it to people.
	Share float64
	// KeepTokens is how much of the recent context is kept, at most a quarter of the
	// window.
	KeepTokens int
}

func defaultCompaction() Compaction { return Compaction{Share: 0.8, KeepTokens: 20_000} }

type compactionFile struct {
	Share      *float64 `toml:"share"`
	KeepTokens *int     `toml:"keep_tokens"`
}

func (f compactionFile) compaction() (Compaction, error) {
	c := defaultCompaction()
	if f.Share != nil {
		c.Share = *f.Share
	}
	if f.KeepTokens != nil {
		c.KeepTokens = *f.KeepTokens
	}
	switch {
	case c.Share != 0 && (c.Share < 0.1 || c.Share > 0.95):
		return c, errors.New("share must be between 0.1 and 0.95 of the context window, or 0 to compact only by hand")
	case c.KeepTokens < 100:
		return c, errors.New("keep_tokens must be at least 100")
	}
	return c, nil
}

// chooseSummaries validates the settings for summaries.
func (f configFile) chooseSummaries(config *Config, names []string) (err error) {
	if config.Compaction, err = f.Compaction.compaction(); err != nil {
		return fmt.Errorf("compaction: %w", err)
	}
	if f.AuxiliaryModel == "" {
		return nil
	}
	if _, ok := config.models[f.AuxiliaryModel]; !ok {
		return fmt.Errorf("auxiliary_model %q does not exist; the models are %s", f.AuxiliaryModel, strings.Join(names, ", "))
	}
	config.auxiliary = f.AuxiliaryModel
	return nil
}
