package client

import (
	"errors"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// MovedTo returns the device that has a session now, if err says that the session was moved.
func MovedTo(err error) (device string, ok bool) {
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindMoved {
		return "", false
	}
	return refused.DeviceID, true
}

// MovedError returns the event as the error with which later requests are refused.
func MovedError(moved api.SessionMoved) error {
	err := api.Errorf(api.KindMoved, "the session was moved to the device %s: connect to that device", moved.DeviceID)
	err.DeviceID = moved.DeviceID.String()
	return err
}

// ErrCircle is returned if devices refer to each other for a session.
var ErrCircle = errors.New("the devices refer to each other, and none of them has the session: restart the host on each, then check `scorel session list` there")

// Trail is where the search for a moved session has led. The zero value is an empty one.
type Trail struct{ devices []string }

// Add notes that a device is asked next. A device that was asked before without success is
// ErrCircle. The one that was asked first can be asked again: the session may be back.
func (t *Trail) Add(device string) error {
	if slices.Contains(t.devices, device) {
		return ErrCircle
	}
	t.devices = append(t.devices, device)
	return nil
}

// Found ends the search.
func (t *Trail) Found() { t.devices = nil }
