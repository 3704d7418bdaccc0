package state

// ConfigError describes an error of the configuration: of config.toml, or of a variable
// that it names.
type ConfigError struct{ cause error }

func (e *ConfigError) Error() string { return e.cause.Error() }
func (e *ConfigError) Unwrap() error { return e.cause }

// Misconfigured wraps an error as a ConfigError; nil stays nil.
func Misconfigured(err error) error {
	if err == nil {
		return nil
	}
	return &ConfigError{err}
}
