package api

// MaxKey is the longest key of a provider, in bytes.
const MaxKey = 16 << 10

// Where providers, models and the default model are set.
const (
	FromConfig   = "config.toml" // which no request changes
	FromRequests = "models.json"
)

// Where the key of a provider comes from.
const (
	KeyFromEnvironment = "environment" // a variable of the host's environment, which no request changes
	KeyFromSystem      = "system"      // the system's key store
	KeyFromFile        = "file"        // a file of mode 0600 in the host's home
)

type (
	// Provider is a model provider of the host. It never contains the key.
	Provider struct {
		// Name is the name in config.toml or of a saved provider. Without models in config.toml,
		// "anthropic", "openai" and "google" are listed too.
		Name    string   `json:"name"`
		Type    string   `json:"type"`              // what it speaks, such as "anthropic"
		Address string   `json:"address,omitempty"` // host and port of its base URL; absent for the demo
		Models  []string `json:"models"`            // names of its models
		// Source is FromConfig or FromRequests; absent for one that the environment selects.
		Source string `json:"source,omitempty"`
		// BaseURL and Version are those of a saved provider, for a client that may change it.
		// An absent BaseURL is the type's own; save_provider and remove_provider repeat Version.
		BaseURL string `json:"baseUrl,omitempty"`
		Version string `json:"version,omitempty"`
		// KeyName is the environment variable that holds its key; absent for a provider
		// that needs none.
		KeyName string `json:"keyName,omitempty"`
		// KeySource is "environment", "system" (the system's key store) or "file"; absent while
		// there is no key.
		KeySource string `json:"keySource,omitempty"`
		// Problem says why a saved key is not used, for people.
		Problem string `json:"problem,omitempty"`
	}
	ListProvidersResponse struct {
		Providers []Provider `json:"providers"` // by name
		// SavedModels are the models that requests saved, by name, for a client that may change
		// them.
		SavedModels []SavedModel `json:"savedModels,omitempty"`
		// DefaultModel is the model for new sessions. DefaultSource says who chose it: FromConfig,
		// FromRequests, or absent for the host itself.
		DefaultModel  string `json:"defaultModel,omitempty"`
		DefaultSource string `json:"defaultSource,omitempty"`
	}
	// SetProviderKeyRequest saves the key of a provider that list_providers lists with a
	// KeyName. Repeating it changes nothing.
	SetProviderKeyRequest struct {
		Provider string `json:"provider" req:"min=1,max=256"`
		Key      string `json:"key" req:"min=1,max=16384"`
		// Store is KeyFromSystem or KeyFromFile; absent means the system's key store if it
		// can be used, and the file otherwise.
		Store string `json:"store,omitempty" req:"max=16"`
	}
	RemoveProviderKeyRequest struct {
		Provider string `json:"provider" req:"min=1,max=256"`
	}
	ProviderResponse struct {
		Provider Provider `json:"provider"`
	}
)
