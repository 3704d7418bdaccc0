package api

type (
	// SaveProviderRequest adds a provider, or changes one that a request saved. A change of its
	// address removes its key.
	SaveProviderRequest struct {
		Name    string `json:"name" req:"min=1,max=64"`
		Version string `json:"version,omitempty" req:"max=256"` // "" means a new provider
		Type    string `json:"providerType" req:"min=1,max=64"` // "openai", "openai-responses", "anthropic" or "google"
		// BaseURL is of https, or of http on the host's machine. A client of that machine may
		// also give an address of its network. "" means the type's own.
		BaseURL string `json:"baseUrl,omitempty" req:"max=2048"`
	}
	// RemoveProviderRequest removes a saved provider that no saved model uses, and its key.
	RemoveProviderRequest struct {
		Name    string `json:"name" req:"min=1,max=64"`
		Version string `json:"version" req:"min=1,max=256"`
	}
)

type (
	// ModelDraft is what a request sets of a model.
	ModelDraft struct {
		Provider      string `json:"provider" req:"min=1,max=64"`                 // its name, saved or of config.toml
		ID            string `json:"id" req:"min=1,max=256"`                      // the provider's name for the model
		ContextWindow int    `json:"contextWindow,omitempty" req:"max=100000000"` // tokens; absent means unknown
		MaxTokens     int    `json:"maxTokens,omitempty" req:"max=100000000"`     // of one answer; absent leaves it to the provider
		// Thinking is off, minimal, low, medium or high; absent leaves it to the provider.
		Thinking string `json:"thinking,omitempty" req:"max=16"`
		Images   *bool  `json:"images,omitempty"` // whether it accepts images; absent is guessed from the id
		// Prices are in US dollars per million tokens; absent means unknown, and for those of the
		// cache that of input.
		PriceInput      float64 `json:"priceInput,omitempty"`
		PriceOutput     float64 `json:"priceOutput,omitempty"`
		PriceCacheRead  float64 `json:"priceCacheRead,omitempty"`
		PriceCacheWrite float64 `json:"priceCacheWrite,omitempty"`
	}
	// SavedModel is a model that a request saved.
	SavedModel struct {
		Name    string     `json:"name"`
		Version string     `json:"version"` // save_model and remove_model repeat it
		Model   ModelDraft `json:"model"`
		// Problem says why it is not used, for people.
		Problem string `json:"problem,omitempty"`
	}
	// SaveModelRequest adds a model, or changes one that a request saved.
	SaveModelRequest struct {
		Name    string     `json:"name" req:"min=1,max=64"`
		Version string     `json:"version,omitempty" req:"max=256"` // "" means a new model
		Model   ModelDraft `json:"model"`
	}
	SavedModelResponse struct {
		Model SavedModel `json:"model"`
	}
	RemoveModelRequest struct {
		Name    string `json:"name" req:"min=1,max=64"`
		Version string `json:"version" req:"min=1,max=256"`
	}
	// SetDefaultModelRequest chooses the model for new sessions. "" leaves it to the host.
	SetDefaultModelRequest struct {
		Name string `json:"name,omitempty" req:"max=256"`
	}
	DefaultModelResponse struct {
		Name   string `json:"name"`
		Source string `json:"source,omitempty"` // as in ListProvidersResponse
	}
	// TestModelRequest makes one small call with a model.
	TestModelRequest struct {
		Name string `json:"name" req:"min=1,max=256"`
	}
	TestModelResponse struct {
		OK bool `json:"ok"`
		// Reason is key_missing, key_refused, unknown_model, unreachable, busy or failed; absent
		// if the model answered.
		Reason string `json:"reason,omitempty"`
		// Problem is why it did not work, for people; absent if it did.
		Problem string `json:"problem,omitempty"`
		Millis  int64  `json:"ms"` // how long it took
	}
)
