package sessions

import "context"

// Held reports whether a session begins nothing new because of HoldAll.
func Held(ctx context.Context, s *Session) (held bool) {
	_ = s.ask(ctx, func() { held = s.held.on })
	return held
}
