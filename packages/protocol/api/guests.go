package api

import "time"

// Limits of guest links.
const (
	MaxGuests    = 64                  // guest links of one host
	MaxGuestTime = 30 * 24 * time.Hour // life of a guest link, in seconds
)
