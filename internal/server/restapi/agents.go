package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/standing"
)

// MachineAgents are the coding agents of the machine that serves.
type MachineAgents interface {
	// ListAgents returns how each agent stands that is on the machine, or set up there.
	ListAgents(ctx context.Context) ([]standing.MachineAgent, error)
	// SilenceAgent silences the hooks of an agent, or lets them speak again, and returns how it stands then. An agent
	// that is not known is not found.
	SilenceAgent(ctx context.Context, agent string, off bool) (standing.MachineAgent, error)
}

// AgentPath is the agent in a path.
type AgentPath struct {
	Agent string `path:"agent" doc:"Name of the agent."`
}

type machineAgentList struct {
	Agents []standing.MachineAgent `json:"agents"`
}

// machineAgentBody is what is changed of an agent.
type machineAgentBody struct {
	Off bool `json:"off" doc:"Whether its hooks are told nothing."`
}

// addAgents adds the coding agents of this machine. They are shown on this machine only, to whoever runs the server.
// Nothing here writes into the settings of agents: who reaches a port of this machine may be another of its users.
func (a *api) addAgents() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-agents", Method: http.MethodGet, Path: "/api/agents",
		Summary: "List the agents of this machine"},
		func(ctx context.Context, _ *struct{}) (*body[machineAgentList], error) {
			if err := a.checkMachine(ctx); err != nil {
				return wrapBody(machineAgentList{}, err)
			}
			all, err := a.agents.ListAgents(ctx)
			return wrapBody(machineAgentList{all}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "patch-agent", Method: http.MethodPatch,
		Path: "/api/agents/{agent}", Summary: "Silence the hooks of an agent, or let them speak",
		MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			AgentPath
			Body machineAgentBody
		}) (*body[standing.MachineAgent], error) {
			if err := a.checkMachine(ctx); err != nil {
				return wrapBody(standing.MachineAgent{}, err)
			}
			return wrapBody(a.agents.SilenceAgent(ctx, in.Agent, in.Body.Off))
		})
}

// checkMachine returns why the sender of a context's request is not shown the agents of this machine.
func (a *api) checkMachine(ctx context.Context) error {
	if _, err := a.viewFor(ctx).Admin(); err != nil {
		return err
	}
	switch {
	case !access.WasSentHere(ctx):
		return scrollback.Errorf(scrollback.Refused, "restapi", i18n.AgentsOnlyOnTheirMachine)
	case a.agents == nil:
		return scrollback.Errorf(scrollback.NotFound, "restapi", i18n.AgentsAreNotHere)
	}
	return nil
}

// offerAgents says of a caller whether it is shown the agents of this machine.
func (a *api) offerAgents(ctx context.Context, who access.Who) access.Who {
	who.Agents = a.agents != nil && access.WasSentHere(ctx) && who.Role == scrollback.AccessAdmin &&
		len(who.Projects) == 0
	return who
}
