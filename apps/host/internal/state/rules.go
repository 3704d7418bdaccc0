package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// userRules is the key of the rules for all projects. Project ids begin with prj_.
const userRules = "user"

// Rules are the rules that people added, or allowed with "always", in addition to those of
// config.toml.
type Rules struct {
	path string

	mu   sync.Mutex
	kept rulesFile
}

// ruleTexts are rules by project id or userRules.
type ruleTexts map[string][]string

type rulesFile struct {
	Allow ruleTexts `json:"projects"` // named when allow rules were the only kind
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

// LoadRules reads the rules from path. A null instead of ask or deny rules is an error:
// treating it as no rules would allow what someone denied.
func LoadRules(path string) (*Rules, error) {
	r := &Rules{path: path}
	if err := readJSON(path, &r.kept); err != nil {
		return nil, err
	}
	var present map[string]json.RawMessage
	if err := readJSON(path, &present); err != nil {
		return nil, err
	}
	for _, kind := range api.RuleKinds() {
		for key, rules := range *r.kept.of(kind) {
			if rules == nil {
				return nil, damaged(path, fmt.Errorf("the %s rules of %q are null: write a list", kind, key))
			}
		}
		if kind != api.RuleAllow && string(present[string(kind)]) == "null" {
			return nil, damaged(path, fmt.Errorf("%q is null: write an object", kind))
		}
	}
	return r, nil
}

// Of returns the stored rules of a kind for a project, or those for all projects if the id
// is "".
func (r *Rules) Of(kind api.RuleKind, projectID string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone((*r.kept.of(kind))[ruleKey(projectID)])
}

// Projects returns the sorted ids of all projects with stored rules.
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

// Add stores rules for a project, or for all projects if the id is "". They are on disk
// when it returns. The error is an *api.Error of KindTooLarge if there are too many.
func (r *Rules) Add(kind api.RuleKind, projectID string, rules []string) error {
	return r.change(kind, projectID, func(have []string) ([]string, error) {
		for _, rule := range rules {
			if !slices.Contains(have, rule) {
				have = append(have, rule)
			}
		}
		if len(have) > api.MaxKeptRules {
			return nil, api.Errorf(api.KindTooLarge, "there would be %d rules, the limit is %d: remove unneeded rules, or write one that covers several", len(have), api.MaxKeptRules)
		}
		return have, nil
	})
}

// Remove removes a stored rule; false if there was none.
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
