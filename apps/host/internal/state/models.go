package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// ProviderSecret begins the variables of the keys of saved providers.
const ProviderSecret = "SCOREL_PROVIDER_"

// SavedModels are the providers and models that requests saved, in models.json. Names of
// config.toml override them. Members that this version does not know are kept.
type SavedModels struct {
	Default   string                   `json:"default,omitempty"` // name of the chosen model
	Providers map[string]SavedProvider `json:"providers,omitempty"`
	Models    map[string]SavedModel    `json:"models,omitempty"`

	others others
}

// SavedProvider is a provider that a request saved.
type SavedProvider struct {
	Type    string `json:"type"`
	BaseURL string `json:"baseUrl,omitempty"` // "" means the type's own
	// KeyName is the variable of its key. It is random, and a different one after each change of
	// the address: a key belongs to one address, and no variable of the environment is one.
	KeyName string `json:"keyName"`
	// PublicOnly restricts it to public addresses: it was not saved on this machine.
	PublicOnly bool   `json:"publicOnly,omitempty"`
	Revision   string `json:"revision"` // different after each change

	others others
}

// SavedModel is a model that a request saved.
type SavedModel struct {
	Provider        string  `json:"provider"`
	ID              string  `json:"id"`
	ContextWindow   int     `json:"contextWindow,omitempty"`
	MaxTokens       int     `json:"maxTokens,omitempty"`
	Thinking        string  `json:"thinking,omitempty"`
	Images          *bool   `json:"images,omitempty"` // nil means guessed from the id
	PriceInput      float64 `json:"priceInput,omitempty"`
	PriceOutput     float64 `json:"priceOutput,omitempty"`
	PriceCacheRead  float64 `json:"priceCacheRead,omitempty"`
	PriceCacheWrite float64 `json:"priceCacheWrite,omitempty"`
	Revision        string  `json:"revision"` // different after each change

	others others
}

// Limits of models.json.
const (
	MaxSavedProviders = 64
	MaxSavedModels    = 256
)

// LoadSavedModels reads the file at path. A missing file is empty.
func LoadSavedModels(path string) (SavedModels, error) {
	var saved SavedModels
	if err := readJSON(path, &saved); err != nil {
		return SavedModels{}, err
	}
	if err := saved.Check(); err != nil {
		return SavedModels{}, fmt.Errorf("state: %s: %w: correct it, or move the file away", path, err)
	}
	return saved, nil
}

// ChangeSavedModels loads the file at path, runs a change of it and writes it. The command line
// does so too where no host runs. It waits for other processes until ctx ends.
func ChangeSavedModels(ctx context.Context, path string, change func(*SavedModels) error) (err error) {
	lock, err := AcquireBefore(ctx, path+".lock")
	if errors.Is(err, ErrLocked) {
		return fmt.Errorf("another process of scorel is changing the saved models: wait until it has ended, and try again (%w)", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	saved, err := LoadSavedModels(path)
	if err != nil {
		return err
	}
	if saved.Providers == nil {
		saved.Providers = map[string]SavedProvider{}
	}
	if saved.Models == nil {
		saved.Models = map[string]SavedModel{}
	}
	if err := change(&saved); err != nil {
		return err
	}
	if err := saved.Check(); err != nil {
		var limit *api.Error
		if errors.As(err, &limit) {
			return err
		}
		return api.Errorf(api.KindBadRequest, "%v", err)
	}
	return writeJSON(path, saved)
}

// Check returns the first thing that is wrong. A model whose provider is missing is not: the
// provider may have been one of config.toml.
func (s SavedModels) Check() error {
	keys := map[string]string{} // provider by the variable of its key
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		p := s.Providers[name]
		if err := cmp.Or(CheckModelName(name), p.check()); err != nil {
			return fmt.Errorf("providers: %.80q: %w", name, err)
		}
		if other, taken := keys[p.KeyName]; taken {
			return fmt.Errorf("providers: %.80q: keyName is that of %s: each key belongs to one address", name, other)
		}
		keys[p.KeyName] = name
	}
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		if err := cmp.Or(CheckModelName(name), s.Models[name].check()); err != nil {
			return fmt.Errorf("models: %.80q: %w", name, err)
		}
	}
	switch {
	case len(s.Providers) > MaxSavedProviders:
		return api.Errorf(api.KindConflict, "there are %d saved providers, which is the limit: remove one first", MaxSavedProviders)
	case len(s.Models) > MaxSavedModels:
		return api.Errorf(api.KindConflict, "there are %d saved models, which is the limit: remove one first", MaxSavedModels)
	}
	return nil
}

// ModelNames lists the names of the saved models, sorted.
func (s SavedModels) ModelNames() []string { return slices.Sorted(maps.Keys(s.Models)) }

var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckModelName reports an invalid name of a saved provider or model.
func CheckModelName(name string) error {
	if !modelName.MatchString(name) {
		return errors.New("a name must have at most 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit")
	}
	return nil
}

var savedKeyName = regexp.MustCompile(`^` + ProviderSecret + `[A-Z0-9]{26,64}$`)

func (p SavedProvider) check() error {
	// A person may have edited the file: it must not turn a key of something else into this one's.
	if !savedKeyName.MatchString(p.KeyName) {
		return errors.New("keyName must be " + ProviderSecret + " and random letters")
	}
	real := slices.DeleteFunc(slices.Clone(providerTypes[:]), func(t string) bool { return t == ProviderDemo }) // which is built in
	return providerFile{Type: p.Type, BaseURL: p.BaseURL}.checkAs(real)
}

func (m SavedModel) check() error {
	switch {
	case m.Provider == "":
		return errors.New("provider is missing")
	case m.ID == "":
		return errors.New("id is missing; it is the provider's name for the model")
	case strings.ContainsAny(m.ID, "?#") || slices.Contains(strings.Split(m.ID, "/"), ".."):
		return errors.New("id must be the provider's name for the model, without .., ? and #")
	}
	return m.file().check()
}

// file returns the model as config.toml has it.
func (m SavedModel) file() modelFile {
	return modelFile{
		Provider: m.Provider, ID: m.ID, ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking, Images: m.Images,
		PriceInput: m.PriceInput, PriceOutput: m.PriceOutput, PriceCacheRead: m.PriceCacheRead, PriceCacheWrite: m.PriceCacheWrite,
	}
}

// others are the members of an object that this version does not know.
type others map[string]json.RawMessage

// decodeWithOthers decodes an object into a struct, and returns its other members.
func decodeWithOthers(data []byte, known any) (others, error) {
	if err := exactjson.Strict(data, known); err != nil {
		return nil, err
	}
	var rest others
	if err := json.Unmarshal(data, &rest); err != nil {
		return nil, err
	}
	t := reflect.TypeOf(known).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(rest, name)
	}
	return rest, nil
}

// encodeWithOthers encodes a struct and other members as one object.
func encodeWithOthers(known any, rest others) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(rest) == 0 {
		return data, err
	}
	all := maps.Clone(rest)
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// The types without their methods, which encoding/json would call again.
type (
	plainModels   SavedModels
	plainProvider SavedProvider
	plainModel    SavedModel
)

// UnmarshalJSON keeps unknown members.
func (s *SavedModels) UnmarshalJSON(data []byte) (err error) {
	s.others, err = decodeWithOthers(data, (*plainModels)(s))
	return err
}

// MarshalJSON writes the unknown members too.
func (s SavedModels) MarshalJSON() ([]byte, error) {
	return encodeWithOthers(plainModels(s), s.others)
}

// UnmarshalJSON keeps unknown members.
func (p *SavedProvider) UnmarshalJSON(data []byte) (err error) {
	p.others, err = decodeWithOthers(data, (*plainProvider)(p))
	return err
}

// MarshalJSON writes the unknown members too.
func (p SavedProvider) MarshalJSON() ([]byte, error) {
	return encodeWithOthers(plainProvider(p), p.others)
}

// UnmarshalJSON keeps unknown members.
func (m *SavedModel) UnmarshalJSON(data []byte) (err error) {
	m.others, err = decodeWithOthers(data, (*plainModel)(m))
	return err
}

// MarshalJSON writes the unknown members too.
func (m SavedModel) MarshalJSON() ([]byte, error) {
	return encodeWithOthers(plainModel(m), m.others)
}
