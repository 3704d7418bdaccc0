package state

import (
	"fmt"
	"time"
)

// defaultQuestionTimeout is long enough to return to a phone, but not a whole night.
const defaultQuestionTimeout = 30 * time.Minute

// minQuestionTimeout is the shortest time in which a person can read and answer.
const minQuestionTimeout = 5 * time.Second

type questionsFile struct {
	Timeout *string `toml:"timeout"`
}

// wait returns how long a question waits for an answer; 0 means forever.
func (f questionsFile) wait() (time.Duration, error) {
	if f.Timeout == nil {
		return defaultQuestionTimeout, nil
	}
	if *f.Timeout == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(*f.Timeout)
	if err != nil || d < minQuestionTimeout {
		return 0, fmt.Errorf("questions.timeout %q must be a duration of at least %s, such as \"30m\" or \"2h\", or \"0\" to wait forever", *f.Timeout, minQuestionTimeout)
	}
	return d, nil
}
