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
	SideCalls       string            // a file of the table of side calls; empty for the built-in one
	Recall          string            // one of door.RecallModes
	PassCredentials *bool             // nil leaves it to where the server can be reached from
	BodyBytes       int64
}

// defaultDoorBody is how large a request of such a client may be, in bytes: it brings its whole history.
const defaultDoorBody = 32 << 20

// ParseDoorMode checks a mode.
func ParseDoorMode(mode string) error {
	return scrollback.CheckDoorMode("scrollback", "door.mode", mode)
}

// parseDoor reads the table of the door.
func (s *Settings) parseDoor(src settingsSource) error {
	at := "door" + dot
	s.Door = Door{Mode: src.readText("SCROLLBACK_DOOR", at+"mode"), Models: src.k.StringMap(at + "models"),
		SideCalls: src.k.String(at + "side_calls"), Recall: src.k.String(at + "recall"),
		BodyBytes: s.Limits.Door}
	if s.Door.BodyBytes == 0 {
		s.Door.BodyBytes = defaultDoorBody
	}
	if src.k.Exists(at + "pass_credentials") {
		pass := src.k.Bool(at + "pass_credentials")
		s.Door.PassCredentials = &pass
	}
	if s.Door.Mode == "" {
		s.Door.Mode = scrollback.DoorFaithful
	}
	if s.Door.Recall == "" {
		s.Door.Recall = door.RecallAuto
	}
	if !slices.Contains(door.RecallModes, s.Door.Recall) {
		return scrollback.ParamErrorf("scrollback", "door.recall", i18n.DoorModeIsOneOf, "door.recall",
			strings.Join(door.RecallModes, ", "), s.Door.Recall)
	}
	return ParseDoorMode(s.Door.Mode)
}
