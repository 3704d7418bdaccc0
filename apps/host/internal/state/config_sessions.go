package state

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Session providers, which store sessions.
const (
	SessionsInFiles    = "file"
	SessionsInPostgres = "postgres"
	SessionsInMySQL    = "mysql"
)

// sessionURLEnv returns the variable that holds the address of a provider's database by
// default.
func sessionURLEnv(provider string) string { return "SCOREL_SESSIONS_" + strings.ToUpper(provider) }

// sessionProviders returns the names, file first.
func sessionProviders() []string {
	return []string{SessionsInFiles, SessionsInPostgres, SessionsInMySQL}
}

// sessionStoreFile is [session_providers.NAME].
type sessionStoreFile struct {
	URL    string `toml:"url"`
	URLEnv string `toml:"url_env"`
}

// projectFile is [projects."/a/folder"].
type projectFile struct {
	SessionProvider string `toml:"session_provider"`
}

// sessionConfig is the configuration of session providers.
type sessionConfig struct {
	byDefault string
	byProject map[string]string // project id -> provider
	stores    map[string]sessionStoreFile
}

// SessionProvider returns the provider that stores the new sessions of a project.
func (c Config) SessionProvider(projectID string) string {
	for _, name := range []string{c.sessions.byProject[projectID], c.sessions.byDefault} {
		if name != "" {
			return name
		}
	}
	return SessionsInFiles
}

// SessionURL returns the address of a session provider's database, or "" if it is unknown.
// The address is a secret.
func (c Config) SessionURL(provider string) string {
	store := c.sessions.stores[provider]
	switch {
	case provider == SessionsInFiles:
		return ""
	case store.URL != "":
		return store.URL
	case store.URLEnv != "":
		return c.getenv(store.URLEnv)
	}
	return c.getenv(sessionURLEnv(provider))
}

// sessionEnvs returns the names of all variables that hold addresses.
func (c Config) sessionEnvs() []string {
	var names []string
	for _, provider := range []string{SessionsInPostgres, SessionsInMySQL} {
		names = append(names, sessionURLEnv(provider))
		if env := c.sessions.stores[provider].URLEnv; env != "" {
			names = append(names, env)
		}
	}
	return names
}

// sessionsConfig validates the settings for session providers.
func (f configFile) sessionsConfig(getenv func(string) string) (sessionConfig, error) {
	c := sessionConfig{byDefault: f.SessionProvider, byProject: map[string]string{}, stores: f.SessionProviders}
	for _, name := range slices.Sorted(maps.Keys(f.SessionProviders)) {
		if err := f.SessionProviders[name].check(name); err != nil {
			return c, fmt.Errorf("session_providers.%s: %w", name, err)
		}
	}
	known := Config{sessions: c, getenv: getenv}
	if err := known.checkSessionProvider(f.SessionProvider); err != nil {
		return c, err
	}
	for _, path := range slices.Sorted(maps.Keys(f.Projects)) {
		if !filepath.IsAbs(path) {
			return c, fmt.Errorf("projects.%q: the name must be the absolute path of a folder", path)
		}
		name := f.Projects[path].SessionProvider
		if err := known.checkSessionProvider(name); err != nil {
			return c, fmt.Errorf("projects.%q: %w", path, err)
		}
		folder := filepath.Clean(path)
		if real, err := filepath.EvalSymlinks(folder); err == nil { // a project's folder may be unavailable for now
			folder = real
		}
		c.byProject[projectID(folder)] = name
	}
	return c, nil
}

// checkSessionProvider rejects an unknown provider, or one whose database has no address.
func (c Config) checkSessionProvider(name string) error {
	switch {
	case name == "" || name == SessionsInFiles:
		return nil
	case !slices.Contains(sessionProviders(), name):
		return fmt.Errorf("unknown session_provider %q; use file, postgres or mysql", name)
	case c.SessionURL(name) == "":
		env := c.sessions.stores[name].URLEnv
		if env == "" {
			env = sessionURLEnv(name)
		}
		return fmt.Errorf("session_provider is %s, but the address of its database is not set: put it in the environment variable %s", name, env)
	}
	return nil
}

func (s sessionStoreFile) check(name string) error {
	switch {
	case name == SessionsInFiles || !slices.Contains(sessionProviders(), name):
		return errors.New("is unknown; use postgres or mysql")
	case s.URL != "" && s.URLEnv != "":
		return errors.New("give url or url_env, not both")
	case s.URL != "":
		// The text is not repeated: it may contain a password.
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme == "" {
			return fmt.Errorf("url is invalid: use %s://user@host/database", name)
		}
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			return errors.New("url must not contain a password: put the whole address in an environment variable and name that as url_env")
		}
	case s.URLEnv != "" && !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(s.URLEnv):
		return errors.New("url_env must be the name of an environment variable, not the address itself")
	}
	return nil
}
