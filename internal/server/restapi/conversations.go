package restapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/shown"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// ConversationPath is the conversation in a path: an id, a unique prefix of one
// (8 characters or more), or "latest".
type ConversationPath struct {
	ID string `path:"id" doc:"Conversation id, a unique prefix of one, or latest."`
}

func (a *api) resolveID(ctx context.Context, name string) (scrollback.ConversationID, error) {
	return a.viewFor(ctx).Resolve(ctx, name)
}

// ConversationBody is what a client may set of a conversation; nil changes nothing. It is
// exported because /openapi.json leaves out the fields of an embedded type that is not.
type ConversationBody struct {
	Project      *string       `json:"project,omitempty"`
	Title        *string       `json:"title,omitempty"`
	Model        *string       `json:"model,omitempty"`
	Instructions *string       `json:"instructions,omitempty"`
	Policy       *string       `json:"policy,omitempty"`
	Limit        *int          `json:"limit,omitempty" doc:"Window of the model in tokens; 0 leaves it to the catalog."`
	Roots        *[]string     `json:"roots,omitempty" doc:"Folders to work in, out of those that the operator granted."`
	Settings     *settingsBody `json:"settings,omitempty"`
	PinnedSeqs   *[]int64      `json:"pinned_seqs,omitempty" doc:"Messages to keep in sight when they are compacted."`
	Meta         *object       `json:"meta,omitempty"`
}

// createBody is a conversation to be created, and what it begins with.
type createBody struct {
	ConversationBody
	ID      *string       `json:"id,omitempty" doc:"UUID; if it exists, that conversation is returned."`
	History []historyBody `json:"history,omitempty" doc:"The messages it begins with."`
}

type historyBody struct {
	Role    string          `json:"role" enum:"system,user,assistant,tool"`
	Content *messageContent `json:"content,omitempty"`
	Parts   *messageContent `json:"parts,omitempty"`
	Name    string          `json:"name,omitempty"`
	Model   string          `json:"model,omitempty"`
}

// historyMessages returns the history's.
func (b *createBody) historyMessages() ([]scrollback.Message, error) {
	var out []scrollback.Message
	for i, h := range b.History {
		m := scrollback.Message{Role: scrollback.Role(h.Role), Name: h.Name, Model: h.Model}
		for _, c := range []*messageContent{h.Content, h.Parts} {
			if c == nil {
				continue
			}
			ps, err := c.readParts("history")
			if err != nil {
				return nil, scrollback.ParamErrorf("restapi", "history", i18n.MessageFailed, i, err)
			}
			m.Parts = append(m.Parts, ps...)
		}
		out = append(out, m)
	}
	return out, nil
}

type settingsBody struct {
	Pinned *bool       `json:"pinned,omitempty"`
	Tools  *[]toolBody `json:"tools,omitempty"`

	Agents           *bool `json:"agents,omitempty" doc:"Whether the model may start sub-agents."`
	ArchiveOnCompact *bool `json:"archive_on_compact,omitempty" doc:"Whether a full copy is written after each compaction."`
	SharedSettings
}

// SharedSettings are the settings that a project may have too. It is exported because
// /openapi.json leaves out the fields of an embedded type that is not.
type SharedSettings struct {
	RecallScope *string `json:"recall_scope,omitempty" doc:"How far the model's own look-ups reach: conversation, project or all."`
	Keep        *string `json:"keep,omitempty" doc:"How far what is kept of people's words goes: conversation, or project."`
	Door        *string `json:"door,omitempty" doc:"Of a project only: how clients of other APIs are answered, faithful, window or record; empty leaves it to the server."`
	PolicyNumbers

	ReasoningEffort *string `json:"reasoning_effort,omitempty" doc:"none, minimal, low, medium, high, xhigh or max; empty leaves it to the model."`
	Thinking        *bool   `json:"thinking,omitempty" doc:"Whether the model thinks before it answers."`
	ThinkingBudget  *int64  `json:"thinking_budget,omitempty" doc:"Tokens it may think for; 0 leaves it to the model."`
}

// applyTo sets what is given.
func (b *SharedSettings) applyTo(s *scrollback.Settings) {
	if b.RecallScope != nil {
		s.RecallScope = *b.RecallScope
	}
	if b.Keep != nil {
		s.Keep = *b.Keep
	}
	if b.Door != nil {
		s.Door = *b.Door
	}
	b.applyThinking(s)
	if b.given() != nil {
		s.Compaction = b.given()
	}
}

// applyThinking sets how much the model thinks. A setting replaces an older one
// that it contradicts.
func (b *SharedSettings) applyThinking(s *scrollback.Settings) {
	if b.ReasoningEffort != nil {
		s.ReasoningEffort = *b.ReasoningEffort
		if b.Thinking == nil {
			s.Thinking = nil
		}
	}
	if b.Thinking != nil {
		s.Thinking = b.Thinking
		if b.ReasoningEffort == nil {
			s.ReasoningEffort = ""
		}
	}
	if b.ThinkingBudget != nil {
		s.ThinkingBudget = *b.ThinkingBudget
	}
}

func (b *ConversationBody) applyTo(c *scrollback.Conversation) error {
	set := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&c.Project, b.Project)
	set(&c.Title, b.Title)
	set(&c.Model, b.Model)
	set(&c.Instructions, b.Instructions)
	set(&c.Policy, b.Policy)
	if b.Limit != nil {
		c.Limit = *b.Limit
	}
	if b.Roots != nil {
		c.Roots = *b.Roots
	}
	if b.Settings != nil && b.Settings.Pinned != nil {
		c.Settings.Pinned = *b.Settings.Pinned
	}
	if b.Settings != nil && b.Settings.Tools != nil {
		c.Settings.Tools = readTools(*b.Settings.Tools)
	}
	if b.Settings != nil && b.Settings.Agents != nil {
		c.Settings.Agents = *b.Settings.Agents
	}
	if b.Settings != nil && b.Settings.ArchiveOnCompact != nil {
		c.Settings.ArchiveOnCompact = *b.Settings.ArchiveOnCompact
	}
	if b.Settings != nil {
		b.Settings.applyTo(&c.Settings)
	}
	if b.PinnedSeqs != nil {
		c.PinnedSeqs = *b.PinnedSeqs
	}
	if b.Meta != nil {
		c.Meta = b.Meta.RawMessage
	}
	return nil
}

type conversationPage struct {
	Conversations []scrollback.Conversation `json:"conversations"`
	Next          *string                   `json:"next"`
}

type projectList struct {
	Projects []scrollback.Project `json:"projects"`
}

type deletedProject struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func (a *api) addConversations() {
	huma.Register(a.huma, huma.Operation{OperationID: "create-conversation", Method: http.MethodPost,
		Path:    "/api/conversations",
		Summary: "Create a conversation", MaxBodyBytes: a.limits.Body}, a.createConversation)
	huma.Register(a.huma, huma.Operation{OperationID: "list-conversations", Method: http.MethodGet,
		Path:    "/api/conversations",
		Summary: "List conversations, most recently changed first"},
		func(ctx context.Context, in *struct {
			Project string   `query:"project"`
			Q       string   `query:"q" doc:"Words in the title."`
			Trash   bool     `query:"trash"`
			Pinned  bool     `query:"pinned"`
			AgentOf []string `query:"agent_of"`
			Cursor  string   `query:"cursor"`
			Limit   int      `query:"limit"`
		}) (*body[conversationPage], error) {
			q := scrollback.ListQuery{Project: in.Project, Title: in.Q, Trash: in.Trash, Pinned: in.Pinned, Cursor: in.Cursor,
				Limit: in.Limit}
			for _, id := range in.AgentOf {
				q.AgentOf = append(q.AgentOf, scrollback.ConversationID(id))
			}
			items, next, err := a.viewFor(ctx).List(ctx, q)
			return wrapBody(conversationPage{items, nullIfZero(next)}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "get-conversation", Method: http.MethodGet,
		Path:    "/api/conversations/{id}",
		Summary: "Read a conversation"},
		func(ctx context.Context, in *ConversationPath) (*tagged, error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapAnswer[tagged](nil, err)
			}
			return withTag(a.viewFor(ctx).Get(ctx, id))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "patch-conversation", Method: http.MethodPatch,
		Path:    "/api/conversations/{id}",
		Summary: "Rename, move, pin or set up a conversation", MaxBodyBytes: a.limits.Body}, a.patchConversation)
	huma.Register(a.huma, huma.Operation{OperationID: "delete-conversation", Method: http.MethodDelete,
		Path:    "/api/conversations/{id}",
		Summary: "Put a conversation in the trash; with purge=1 remove it permanently. It takes a whole id",
		Responses: spec.Responses(http.StatusOK,
			spec.EitherJSON[scrollback.Conversation, engine.PurgeResult](a.typeSchemas()))},
		a.removeConversation)
	huma.Register(a.huma, huma.Operation{OperationID: "restore-conversation", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/restore",
		Summary: "Take a conversation out of the trash"},
		func(ctx context.Context, in *ConversationPath) (*tagged, error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapAnswer[tagged](nil, err)
			}
			return withTag(a.viewFor(ctx).Restore(ctx, id))
		})
}

// tagged is a conversation with its version as an entity tag.
type tagged struct {
	Status int
	ETag   string `header:"ETag"`
	Body   scrollback.Conversation
}

func withTag(c scrollback.Conversation, err error) (*tagged, error) {
	return wrapAnswer(&tagged{Status: http.StatusOK, ETag: formatTag(c.Version), Body: c}, err)
}

// formatTag returns a version as an entity tag.
func formatTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// parseTag returns the version that If-Match names; 0 for any.
func parseTag(ifMatch string) (int64, error) {
	tag := strings.Trim(strings.TrimPrefix(ifMatch, "W/"), `" `)
	if tag == "" || tag == "*" {
		return 0, nil
	}
	version, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || version < 1 {
		return 0, scrollback.Errorf(scrollback.Conflict, "restapi",
			i18n.IfMatchNamesNoVersion).WithReason(scrollback.ErrPrecondition)
	}
	return version, nil
}

func (a *api) createConversation(ctx context.Context, in *struct {
	Body *createBody `required:"false"`
}) (*tagged, error) {
	var c scrollback.Conversation
	if in.Body == nil {
		in.Body = &createBody{}
	}
	if in.Body.ID != nil {
		c.ID = scrollback.ConversationID(*in.Body.ID)
	}
	if err := in.Body.applyTo(&c); err != nil {
		return wrapAnswer[tagged](nil, err)
	}
	history, err := in.Body.historyMessages()
	if err != nil {
		return wrapAnswer[tagged](nil, err)
	}
	made, created, err := a.viewFor(ctx).Create(ctx, c, history...)
	out, err := withTag(made, err)
	if err == nil && created {
		out.Status = http.StatusCreated
	}
	return out, err
}

// removed is a conversation that was put in the trash, or what a purge removed.
type removed struct {
	ETag string `header:"ETag"`
	Body any
}

func (a *api) removeConversation(ctx context.Context, in *struct {
	ConversationPath
	Purge bool `query:"purge"`
}) (*removed, error) {
	id, err := scrollback.ParseConversationID(in.ID)
	if err != nil {
		return wrapAnswer[removed](nil, err)
	}
	if in.Purge {
		p, err := a.viewFor(ctx).Purge(ctx, id)
		return wrapAnswer(&removed{Body: p}, err)
	}
	t, err := withTag(a.viewFor(ctx).Trash(ctx, id))
	if err != nil {
		return nil, err
	}
	return &removed{ETag: t.ETag, Body: t.Body}, nil
}

func (a *api) patchConversation(ctx context.Context, in *struct {
	ConversationPath
	IfMatch string `header:"If-Match" doc:"The version to change."`
	Body    ConversationBody
}) (*tagged, error) {
	id, err := a.resolveID(ctx, in.ID)
	if err != nil {
		return wrapAnswer[tagged](nil, err)
	}
	version, err := parseTag(in.IfMatch)
	if err != nil {
		return wrapAnswer[tagged](nil, err)
	}
	return withTag(a.viewFor(ctx).Patch(ctx, id, version, in.Body.applyTo))
}

// addMessages adds reading them page by page.
func (a *api) addMessages() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-messages", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/messages",
		Summary: "Read messages by seq: after one, before one, or the newest; with the turns between them that have no stored answer"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Branch string `query:"branch"`
			Before int64  `query:"before" minimum:"0"`
			After  int64  `query:"after" default:"-1" doc:"0 for the first."`
			Limit  int    `query:"limit"`
			HTML   bool   `query:"html"`
		}) (*body[shown.MessagePage], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(shown.MessagePage{}, err)
			}
			q := scrollback.PageQuery{Branch: scrollback.BranchID(in.Branch), Before: in.Before, Limit: in.Limit}
			if in.After >= 0 {
				q.After = &in.After
			}
			page, err := a.viewFor(ctx).Turns().Page(ctx, id, q)
			if err != nil || !in.HTML {
				return wrapBody(shown.PlainPage(page), err)
			}
			c, err := a.viewFor(ctx).Get(ctx, id)
			if err != nil {
				return wrapBody(shown.MessagePage{}, err)
			}
			return wrapBody(shown.DrawnPage(a.markdown, page, c.Messages), nil)
		})
}

// ProjectPath is the project in a path.
type ProjectPath struct {
	Name string `path:"name" doc:"Name of the project."`
}

// projectBody is what is stored of a project; what is missing is empty.
type projectBody struct {
	Title        string          `json:"title,omitempty"`
	Instructions string          `json:"instructions,omitempty" doc:"They stand before a conversation's own."`
	Model        string          `json:"model,omitempty" doc:"For conversations that name none."`
	Policy       string          `json:"policy,omitempty"`
	Limit        int             `json:"limit,omitempty" doc:"Window of the model in tokens; 0 leaves it to the configuration and the catalog."`
	Settings     *SharedSettings `json:"settings,omitempty"`
	Budget       *budgetBody     `json:"budget,omitempty"`
}

type budgetBody struct {
	TokensPerDay int64   `json:"tokens_per_day,omitempty" doc:"0 for no bound."`
	MoneyPerDay  float64 `json:"money_per_day,omitempty" doc:"0 for no bound."`
	Currency     string  `json:"currency,omitempty" doc:"Of the money, such as USD."`
}

// applyTo replaces what is stored.
func (b *projectBody) applyTo(p *scrollback.Project) error {
	*p = scrollback.Project{Name: p.Name, Title: b.Title, Instructions: b.Instructions, Model: b.Model, Policy: b.Policy,
		Limit: b.Limit}
	if b.Settings != nil {
		b.Settings.applyTo(&p.Settings)
	}
	if b.Budget != nil {
		p.Budget = &scrollback.DailyBudget{TokensPerDay: b.Budget.TokensPerDay, MoneyPerDay: b.Budget.MoneyPerDay,
			Currency: b.Budget.Currency}
	}
	return nil
}

// taggedProject is a project with its version as an entity tag.
type taggedProject struct {
	Status int
	ETag   string `header:"ETag"`
	Body   scrollback.Project
}

func (a *api) addProjects() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-projects", Method: http.MethodGet, Path: "/api/projects",
		Summary: "List projects"},
		func(ctx context.Context, _ *struct{}) (*body[projectList], error) {
			ps, err := a.viewFor(ctx).Projects().List(ctx)
			return wrapBody(projectList{ps}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "get-project", Method: http.MethodGet, Path: "/api/projects/{name}",
		Summary: "Read a project with what its conversations inherit"},
		func(ctx context.Context, in *ProjectPath) (*taggedProject, error) {
			p, err := a.viewFor(ctx).Projects().Get(ctx, in.Name)
			return wrapAnswer(&taggedProject{Status: http.StatusOK, ETag: formatTag(p.Version), Body: p}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "put-project", Method: http.MethodPut, Path: "/api/projects/{name}",
		Summary: "Store a project, in place of what is stored of it; needs admin access", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ProjectPath
			IfMatch string `header:"If-Match" doc:"The version to change."`
			Body    projectBody
		}) (*taggedProject, error) {
			version, err := parseTag(in.IfMatch)
			if err != nil {
				return wrapAnswer[taggedProject](nil, err)
			}
			p, err := a.viewFor(ctx).Projects().Put(ctx, in.Name, version, in.Body.applyTo)
			out := &taggedProject{Status: http.StatusOK, ETag: formatTag(p.Version), Body: p}
			if p.Version == 1 {
				out.Status = http.StatusCreated
			}
			return wrapAnswer(out, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "delete-project", Method: http.MethodDelete,
		Path:    "/api/projects/{name}",
		Summary: "Remove what is stored of a project, and no conversation; needs admin access"},
		func(ctx context.Context, in *struct {
			ProjectPath
			IfMatch string `header:"If-Match" doc:"The version to delete."`
		}) (*body[deletedProject], error) {
			version, err := parseTag(in.IfMatch)
			if err == nil {
				err = a.viewFor(ctx).Projects().Delete(ctx, in.Name, version)
			}
			return wrapBody(deletedProject{in.Name, true}, err)
		})
}
