package state

import (
	"maps"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// userRules is the key of the rules that hold in every project. The id of a project
// begins with prj_.
const userRules = "user"

// Rules are the rules that people added, or allowed with "always", beside those of
// config.toml.
type Rules struct {
	path string

	mu   sync.Mutex
	kept rulesFile
}

// ruleTexts are rules by the id of their project, or userRules.
type ruleTexts map[string][]string

type rulesFile struct {
	Allow ruleTexts `json:"projects"` // the name from when there was no other kind
	Ask   ruleTexts `json:"ask,omitempty"`
	Deny  ruleTexts `json:"deny,omitempty"`
}

func (f *rulesFile) of(kind api.RuleKind) *ruleTexts {
	switch kind {
	case api.RuleAllow:
		return &f.Allow
	case api.RuleAsk:
		return &f.Ask
	}
	return &f.Deny
}

func ruleKey(projectID string) string {
	if projectID == "" {
		return userRules
	}
	return projectID
}

// LoadRules reads them.
func LoadRules(path string) (*Rules, error) {
	r := &Rules{path: path}
	return r, readJSON(path, &r.kept)
}

// Of returns the rules of a kind that are kept for a project, or with "" for all.
func (r *Rules) Of(kind api.RuleKind, projectID string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone((*r.kept.of(kind))[ruleKey(projectID)])
}

// Projects returns the ids of all projects that rules are kept for, in order.
func (r *Rules) Projects() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, kind := range api.RuleKinds() {
		for id, rules := range *r.kept.of(kind) {
			if id != userRules && len(rules) > 0 && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// Add keeps rules for a project, or with "" for all. It returns when they are on
// disk. The error is an *api.Error of KindTooLarge where there are too many.
func (r *Rules) Add(kind api.RuleKind, projectID string, rules []string) error {
	return r.change(kind, projectID, func(have []string) ([]string, error) {
		for _, rule := range rules {
			if !slices.Contains(have, rule) {
				have = append(have, rule)
			}
		}
		if len(have) > api.MaxKeptRules {
			return nil, api.Errorf(api.KindTooLarge, "there would be %d rules, the limit is %d: remove some that are not needed, or write one that covers them", len(have), api.MaxKeptRules)
		}
		return have, nil
	})
}

// Remove takes a rule back; false when it was not kept.
func (r *Rules) Remove(kind api.RuleKind, projectID, rule string) (removed bool, err error) {
	err = r.change(kind, projectID, func(have []string) ([]string, error) {
		left := slices.DeleteFunc(slices.Clone(have), func(other string) bool { return other == rule })
		removed = len(left) < len(have)
		return left, nil
	})
	return removed && err == nil, err
}

func (r *Rules) change(kind api.RuleKind, projectID string, edit func([]string) ([]string, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, key := r.kept, ruleKey(projectID)
	have := (*next.of(kind))[key]
	rules, err := edit(slices.Clone(have))
	if err != nil || slices.Equal(rules, have) {
		return err
	}
	texts := maps.Clone(*next.of(kind))
	if texts == nil {
		texts = ruleTexts{}
	}
	if texts[key] = rules; len(rules) == 0 {
		delete(texts, key)
	}
	*next.of(kind) = texts
	if err := writeJSON(r.path, next); err != nil {
		return err
	}
	r.kept = next
	return nil
}
