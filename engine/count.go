package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// CountingModel returns the model that a caller's request in a project would go to, for a request that only has its
// tokens counted, and how its tokens compare with ours. The model may lack its key. Nothing is stored.
func (v *View) CountingModel(ctx context.Context, project string, o Overrides) (model.Model, float64, error) {
	if err := v.door.requireAccess(scrollback.AccessRead); err != nil {
		return nil, 0, err
	}
	project, err := v.door.resolveProject(project)
	if err != nil {
		return nil, 0, err
	}
	settings, err := v.e.resolver.Resolve(ctx, scrollback.Conversation{Project: project}, o)
	return settings.Model, settings.Factor, err
}
