package state

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keysOfProviders returns the variables in which programs commonly look for the keys of
// model providers. A key set for another program is not meant for the agent.
func keysOfProviders() []string {
	return []string{
		"AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "AZURE_OPENAI_API_KEY",
		"CEREBRAS_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "COHERE_API_KEY", "CO_API_KEY", "DASHSCOPE_API_KEY", "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MINIMAX_API_KEY", "MISTRAL_API_KEY", "MOONSHOT_API_KEY",
		"NVIDIA_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "PERPLEXITY_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY",
		"ZAI_API_KEY", "ZHIPUAI_API_KEY",
	}
}

type environmentFile struct {
	Pass []string `toml:"pass"`
}

// environment determines which variables commands get.
func (f configFile) environment(config *Config) error {
	for _, provider := range f.Providers { // a provider without a model has a key too
		if provider.APIKeyEnv != "" {
			config.keyEnvs = append(config.keyEnvs, provider.APIKeyEnv)
		}
	}
	secret := config.SecretEnvs()
	for _, name := range f.Environment.Pass {
		switch {
		case !environmentName.MatchString(name): // do not repeat the text: it may be a key
			return errors.New("environment.pass must contain names of environment variables, such as OPENAI_API_KEY")
		case slices.Contains(secret, name): // a command could spend money of the agent's own account
			return fmt.Errorf("environment.pass: %s is used by the host itself and is never passed to commands; put the host's value in another variable and name that as api_key_env or url_env", name)
		}
	}
	config.pass = f.Environment.Pass
	return nil
}

// WithheldEnvs returns the sorted names of all variables that commands and MCP servers do
// not get: those of SecretEnvs, and the keys of other providers that environment.pass does
// not name.
func (c Config) WithheldEnvs() []string {
	names := slices.DeleteFunc(keysOfProviders(), func(name string) bool { return slices.Contains(c.pass, name) })
	names = append(names, c.SecretEnvs()...)
	slices.Sort(names)
	return slices.Compact(names)
}
