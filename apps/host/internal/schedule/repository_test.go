package schedule

import "testing"

func TestOnGitHub(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/o/r": "o/r", "https://github.com/o/r.git": "o/r", "https://user:token@GitHub.com/o/r.js/": "o/r.js", "git@github.com:o/r.git": "o/r",
		"ssh://git@github.com/o/r.git": "o/r", "ssh://git@ssh.github.com:443/o/r.git": "o/r", "git://github.com/o/r": "o/r",
		"https://example.com/o/r": "", "https://github.com.example.com/o/r": "", "https://example.com/github.com/o/r": "", "git@example.com:github.com/o/r": "",
		"/srv/github.com/o/r": "", "../o/r": "", "https://github.com/o": "", "https://github.com/o/r/x": "", "": "", "github.com": "", "https://github.com/../r": "", "%:": "",
	} {
		if got := onGitHub(remote); got != want {
			t.Errorf("%q names %q, not %q", remote, got, want)
		}
	}
}
