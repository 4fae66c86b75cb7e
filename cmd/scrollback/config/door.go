package config

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Door says how clients of other APIs are answered.
type Door struct {
	Mode            string
	Models          map[string]string // what clients call models, and what is asked
	PassCredentials *bool             // nil leaves it to where the server can be reached from
	BodyBytes       int64
}

// defaultDoorBody is how large a request of such a client may be, in bytes: it brings its whole history.
const defaultDoorBody = 32 << 20

// ParseDoorMode checks a mode.
func ParseDoorMode(mode string) error {
	modes := []string{door.ModeFaithful, door.ModeWindow, door.ModeRecord}
	if !slices.Contains(modes, mode) {
		return scrollback.ParamErrorf("scrollback", "door.mode", i18n.DoorModeIsOneOf, strings.Join(modes, ", "), mode)
	}
	return nil
}

// parseDoor reads the table of the door.
func (s *Settings) parseDoor(src settingsSource) error {
	at := "door" + dot
	s.Door = Door{Mode: src.readText("SCROLLBACK_DOOR", at+"mode"), Models: src.k.StringMap(at + "models"),
		BodyBytes: s.Limits.Door}
	if s.Door.BodyBytes == 0 {
		s.Door.BodyBytes = defaultDoorBody
	}
	if src.k.Exists(at + "pass_credentials") {
		pass := src.k.Bool(at + "pass_credentials")
		s.Door.PassCredentials = &pass
	}
	if s.Door.Mode == "" {
		s.Door.Mode = door.ModeFaithful
	}
	return ParseDoorMode(s.Door.Mode)
}
