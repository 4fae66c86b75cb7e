package main

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/server/mcpapi"
)

type mcpCmd struct {
	Conversation string `help:"Answer for this conversation only." placeholder:"ID"`
}

// Run implements the command.
func (c *mcpCmd) Run(g *globals) error {
	return g.with(func(a *app) error {
		var only scrollback.ConversationID
		if c.Conversation != "" {
			id, err := a.Resolve(g.ctx, c.Conversation)
			if err != nil {
				return err
			}
			only = id
		}
		return mcpapi.Run(g.ctx, mcpapi.New(a.Engine, mcpapi.Options{Version: version(), Conversation: only}), g.stdin, g.stdout)
	})
}
