package config

import "strings"

// Sync is which remotes a store meets.
type Sync struct {
	Remotes       []string
	RemoteProgram string            // that an ssh remote runs; empty: the one that is found there
	KeyEnv        map[string]string // by remote: the variable with its key
}

// parseSync reads the remotes.
func (s *Settings) parseSync(src settingsSource) error {
	at := "sync" + dot
	s.Sync = Sync{Remotes: src.readTexts(at + "remotes"), RemoteProgram: src.k.String(at + "remote_program"),
		KeyEnv: src.k.StringMap(at + "key_env")}
	if list := src.env("SCROLLBACK_SYNC"); list != "" {
		s.Sync.Remotes = strings.Split(list, ",")
	}
	return nil
}
