package config

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Hooks say what is told to other agents unasked.
type Hooks struct {
	Off     bool     // nothing is
	Exclude []string // tools and folders that are never told of, nor told anything, beside those left out of imports
	Quiet   bool     // people are not told that something was told
	Tokens  int      // of a text at most; 0 is the default
	All     bool     // conversations of all places may be told of
}

// hookTokens bounds the tokens of a text.
const hookTokens = 400

// parseHooks reads what is told to other agents.
func (s *Settings) parseHooks(src settingsSource) error {
	k := src.k
	at := "hooks" + dot
	s.Hooks = Hooks{Off: src.env("SCROLLBACK_HOOKS") == "off", Exclude: src.readTexts(at + "exclude"),
		Quiet: k.Exists(at+"tell") && !k.Bool(at+"tell"), Tokens: k.Int(at + "tokens"), All: k.String(at+"scope") == "all"}
	if scope := k.String(at + "scope"); scope != "" && scope != "here" && scope != "all" {
		return scrollback.ParamErrorf("scrollback", "hooks", i18n.HooksScopeIsHereOrAll, scope)
	}
	if s.Hooks.Tokens < 0 || s.Hooks.Tokens > hookTokens || k.Exists(at+"tokens") && s.Hooks.Tokens == 0 {
		return scrollback.ParamErrorf("scrollback", "hooks", i18n.HooksTokensAreAtMost, hookTokens)
	}
	return nil
}
