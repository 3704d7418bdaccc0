package api

// MaxKey is the longest key of a provider, in bytes.
const MaxKey = 16 << 10

// Where the key of a provider comes from.
const (
	KeyFromEnvironment = "environment" // a variable of the host's environment, which no request changes
	KeyFromSystem      = "system"      // the system's key store
	KeyFromFile        = "file"        // a file of mode 0600 in the host's home
)

type (
	// Provider is a model provider of the host. It never contains the key.
	Provider struct {
		// Name is the name in config.toml. Without models there, "anthropic", "openai" and "google" are
		// listed too.
		Name    string   `json:"name"`
		Type    string   `json:"type"`              // what it speaks, such as "anthropic"
		Address string   `json:"address,omitempty"` // host and port of its base URL; absent for the demo
		Models  []string `json:"models"`            // names in config.toml
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
