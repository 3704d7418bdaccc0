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

// Session providers: what keeps sessions.
const (
	SessionsInFiles    = "file"
	SessionsInPostgres = "postgres"
	SessionsInMySQL    = "mysql"
)

// sessionURLEnv are the variables that hold the addresses of databases where
// config.toml names no others.
func sessionURLEnv(provider string) string { return "SCOREL_SESSIONS_" + strings.ToUpper(provider) }

// sessionProviders lists the names, file first.
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

// sessionConfig is what config.toml says of session providers.
type sessionConfig struct {
	byDefault string
	byProject map[string]string // project id -> provider
	stores    map[string]sessionStoreFile
}

// SessionProvider names what keeps the new sessions of a project.
func (c Config) SessionProvider(projectID string) string {
	for _, name := range []string{c.sessions.byProject[projectID], c.sessions.byDefault} {
		if name != "" {
			return name
		}
	}
	return SessionsInFiles
}

// SessionURL returns the address of a session provider's database, "" where none is
// known. It is a secret.
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

// sessionsConfig checks the parts of the file that concern session providers.
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
		if real, err := filepath.EvalSymlinks(folder); err == nil { // a project's folder may be away for now
			folder = real
		}
		c.byProject[projectID(folder)] = name
	}
	return c, nil
}

// checkSessionProvider refuses a name that is none, or whose database has no address.
func (c Config) checkSessionProvider(name string) error {
	switch {
	case name == "" || name == SessionsInFiles:
		return nil
	case !slices.Contains(sessionProviders(), name):
		return fmt.Errorf("session_provider %q is unknown; it must be file, postgres or mysql", name)
	case c.SessionURL(name) == "":
		env := c.sessions.stores[name].URLEnv
		if env == "" {
			env = sessionURLEnv(name)
		}
		return fmt.Errorf("session_provider is %s, and the address of its database is not known: put it into the environment variable %s", name, env)
	}
	return nil
}

func (s sessionStoreFile) check(name string) error {
	switch {
	case name == SessionsInFiles || !slices.Contains(sessionProviders(), name):
		return errors.New("is unknown; it must be postgres or mysql")
	case s.URL != "" && s.URLEnv != "":
		return errors.New("give url or url_env, not both")
	case s.URL != "":
		// What is written there is not repeated: it may hold a password.
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme == "" {
			return fmt.Errorf("url cannot be read: give it as in %s://user@host/database", name)
		}
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			return errors.New("url must not hold a password: put the whole address into an environment variable and name that as url_env")
		}
	case s.URLEnv != "" && !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(s.URLEnv):
		return errors.New("url_env must be the name of an environment variable, not the address itself")
	}
	return nil
}
