package scrollback

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// How requests of clients of other APIs are answered.
const (
	DoorFaithful = "faithful" // sent on as they stand while they fit, else a window made here; the default
	DoorWindow   = "window"   // always a window made here
	DoorRecord   = "record"   // always sent on where the server speaks the client's API
)

// CheckDoorMode returns an error that names param if there is no such mode. The empty mode leaves it to what holds more
// widely.
func CheckDoorMode(op, param, mode string) error {
	modes := []string{DoorFaithful, DoorWindow, DoorRecord}
	if mode == "" || slices.Contains(modes, mode) {
		return nil
	}
	return ParamErrorf(op, param, i18n.DoorModeIsOneOf, param, strings.Join(modes, ", "), mode)
}
