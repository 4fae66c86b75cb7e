package config

import (
	"math"

	"github.com/knadh/koanf/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
)

// IntakeLimits bound what comes in; 0 is the default of each.
type IntakeLimits struct {
	Body, MessageChars, Parts, Attachment, Import, Images, Door int64

	RemoteImages bool // images at addresses are allowed
}

// parseLimits reads them from the config file.
func parseLimits(k *koanf.Koanf) (l IntakeLimits, err error) {
	for name, at := range map[string]*int64{"body_bytes": &l.Body, "message_chars": &l.MessageChars, "parts": &l.Parts,
		"attachment_bytes": &l.Attachment, "import_bytes": &l.Import, "images": &l.Images, "door_body_bytes": &l.Door} {
		if *at = k.Int64("limits" + dot + name); *at < 0 || *at > 1<<40 {
			return l, scrollback.ParamErrorf("scrollback", "limits",
				i18n.LimitsSettingOutOfRange, name)
		}
	}
	l.RemoteImages = k.Bool("remote_images")
	return l, nil
}

// parseAgents reads whether models may start sub-agents, and their bounds.
func (s *Settings) parseAgents(src settingsSource) error {
	at := func(name string) int64 { return src.k.Int64("agents" + dot + name) }
	within := func(name string) int { // what an int may not hold is out of bounds anyway
		return int(min(max(at(name), -1), math.MaxInt32))
	}
	s.Agents = engine.AgentOptions{Allowed: src.k.Bool("agents" + dot + "allowed"), Depth: within("depth"),
		PerTurn: within("per_turn"), PerTree: within("per_tree"),
		Steps: within("steps"), Tokens: at("tokens")}
	return s.Agents.Check()
}

// ApplyIncoming sets an engine's share of them.
func (l IntakeLimits) ApplyIncoming(o engine.Options) engine.Options {
	o.Incoming.MessageChars = int(l.MessageChars)
	o.Incoming.Parts = int(l.Parts)
	o.Incoming.ArtifactBytes = l.Attachment
	o.Incoming.Images = int(l.Images)
	o.Incoming.RemoteImages = l.RemoteImages
	return o
}

// APILimits returns the server's share of them.
func (l IntakeLimits) APILimits() restapi.BodyLimits {
	return restapi.BodyLimits{Body: l.Body, Import: l.Import, Upload: l.Attachment}
}
