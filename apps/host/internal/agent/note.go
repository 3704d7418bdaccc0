package agent

import "github.com/scorel/scorel/packages/protocol/session"

// Noter is a Toolset that has something to say beside the results of its tools. Its
// methods may be called from any goroutine.
type Noter interface {
	// Listen names the function that is called when Waking may have become true. It
	// does not block, and is called from any goroutine.
	Listen(wake func())
	// Began is called when a turn begins. shown are the files whose text the model's
	// context holds as notes, absolute; all others may be shown again.
	Began(shown []string)
	// Notes returns, once each, what the model is to be told before it goes on.
	Notes() []session.Note
	// Waking tells whether something waits that is worth a turn of its own.
	Waking() bool
	// Compacted is called when a summary took the place of old messages, with what is
	// still shown. It returns what the model must not forget.
	Compacted(shown []string) []session.Note
	// Activate returns the skill that a person calls by its name, with what they said
	// behind it; false where there is none of that name.
	Activate(name, args string) (session.Note, bool)
	// Cancelled is called when a person cancelled the turn. It returns when what ends
	// with the turn has ended.
	Cancelled()
}
