package engine

import "github.com/scrollback-ai/scrollback"

// ParallelAgents is how many sub-agents of one step work at the same time.
const ParallelAgents = maxParallelAgents

// Rest waits until no turn runs, and no fold behind one. Nothing may begin meanwhile.
func (e *Engine) Rest() { e.running.Wait() }

// ForkOf returns what a fork has of a conversation.
func ForkOf(c scrollback.Conversation) scrollback.Conversation { return forkOf(c) }
