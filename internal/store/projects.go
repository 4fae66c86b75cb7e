package store

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// maxCurrency is how long the name of a currency may be, in bytes.
const maxCurrency = 16

// List lists the projects that conversations name or that are stored, by name, and the
// default one in any case.
func (p Projects) List(ctx context.Context) ([]scrollback.Project, error) {
	ps, err := p.s.d.Access.ListProjects(ctx)
	for _, one := range ps {
		if one.Name == scrollback.DefaultProject {
			return ps, err
		}
	}
	return append([]scrollback.Project{{Name: scrollback.DefaultProject}}, ps...), err
}

// Get returns what is stored of a project; Version is 0 if nothing is. It does not count
// conversations, and reads one row.
func (p Projects) Get(ctx context.Context, name string) (scrollback.Project, error) {
	return p.s.d.Access.ReadProject(ctx, name)
}

// Put lets edit change what is stored of a project; if nothing is, it is stored from then
// on. With ifVersion set, any other version is a conflict that wraps
// scrollback.ErrPrecondition.
func (p Projects) Put(ctx context.Context, name string, ifVersion int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	const op = "store.Projects.Put"
	if err := checkProjectName(op, name); err != nil {
		return scrollback.Project{}, err
	}
	return p.s.d.Access.PutProject(ctx, name, p.s.Now(), func(v *scrollback.Project) error {
		if err := atVersion(op, *v, ifVersion); err != nil {
			return err
		}
		if err := edit(v); err != nil {
			return err
		}
		return completeProject(op, v)
	})
}

// Delete removes what is stored of a project, and touches no conversation; not_found if
// nothing is stored.
func (p Projects) Delete(ctx context.Context, name string, ifVersion int64) error {
	return p.s.d.Access.DeleteProject(ctx, name, p.s.Now(),
		func(v scrollback.Project) error { return atVersion("store.Projects.Delete", v, ifVersion) })
}

func atVersion(op string, p scrollback.Project, ifVersion int64) error {
	if ifVersion == 0 || p.Version == ifVersion {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, op, i18n.ProjectAtVersion,
		p.Version).WithReason(scrollback.ErrPrecondition)
}

// checkProjectName returns an error if a project cannot have this name.
func checkProjectName(op, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return scrollback.ParamErrorf(op, "project", i18n.ProjectNeedsName)
	case name == "." || name == "..": // no address can name it
		return scrollback.ParamErrorf(op, "project", i18n.ProjectCannotBeNamed, name)
	case utf8.RuneCountInString(name) > maxProject:
		return scrollback.ParamErrorf(op, "project", i18n.ProjectNameTooLong, maxProject)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return scrollback.ParamErrorf(op, "project", i18n.ProjectNameIsOneLine)
	}
	return nil
}

// completeProject fills in defaults and checks bounds.
func completeProject(op string, p *scrollback.Project) error {
	c := scrollback.Conversation{Project: p.Name, Title: p.Title, Instructions: p.Instructions, Limit: p.Limit,
		Settings: p.Settings}
	c.Settings.Door = ""
	err := completeConversation(op, &c)
	if err == nil {
		err = scrollback.CheckDoorMode(op, "door", p.Settings.Door)
	}
	if err != nil {
		return err
	}
	c.Settings.Door = p.Settings.Door
	p.Settings = c.Settings
	if p.Settings.Pinned || p.Settings.Tools != nil {
		return scrollback.ParamErrorf(op, "settings", i18n.ProjectHasNoPinOrTools)
	}
	b := p.Budget
	if b == nil {
		return nil
	}
	switch {
	case b.TokensPerDay < 0:
		return scrollback.ParamErrorf(op, "tokens_per_day", i18n.TokensPerDayIsNumberOrNoBound)
	case !(b.MoneyPerDay >= 0) || math.IsInf(b.MoneyPerDay, 0):
		return scrollback.ParamErrorf(op, "money_per_day", i18n.MoneyPerDayIsAmountOrNoBound)
	case b.MoneyPerDay > 0 && strings.TrimSpace(b.Currency) == "":
		return scrollback.ParamErrorf(op, "currency", i18n.MoneyPerDayNeedsCurrency)
	case len(b.Currency) > maxCurrency || strings.ContainsFunc(b.Currency, unicode.IsControl):
		return scrollback.ParamErrorf(op, "currency", i18n.CurrencyTooLong, maxCurrency)
	}
	if b.TokensPerDay == 0 && b.MoneyPerDay == 0 {
		p.Budget = nil
	}
	return nil
}

// ChangeTitle moves a conversation's title on, books what that cost, and reports whether its
// title was still in the state From.
func (s *Store) ChangeTitle(ctx context.Context, e TitleChange) (bool, error) {
	e.Now = s.Now()
	e.Usage = boundRecords(e.Usage)
	return s.d.Log.ChangeTitle(ctx, e)
}

// Put stores where a conversation comes from, in the place of what it had of the same tool
// and id; so does what another conversation, instead, had of them, unless that is empty.
// It is not_found if there is no such conversation, and invalid without a tool and an id.
func (p Origins) Put(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	if o.Tool == "" || o.ID == "" || o.Conversation == "" {
		return scrollback.Errorf(scrollback.Invalid, "store.Origins.Put", i18n.OriginIncomplete)
	}
	o.ImportedAt = cmp.Or(o.ImportedAt, p.s.Now())
	return p.s.d.Log.PutOrigin(ctx, o, instead)
}

// List returns a page of origins by tool, id and conversation, ascending; none for an empty,
// but not nil, list of projects or conversations.
func (p Origins) List(ctx context.Context, q OriginQuery) ([]scrollback.Origin, error) {
	if q.Projects != nil && len(q.Projects) == 0 || q.Conversations != nil && len(q.Conversations) == 0 {
		return nil, nil
	}
	return p.s.d.Log.ListOrigins(ctx, q)
}

// WasPurged reports whether a conversation of one of some projects, or any if they are nil, was
// purged that came from this tool under this id, and has not been brought again.
func (p Origins) WasPurged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	return p.s.d.Log.WasOriginPurged(ctx, tool, id, projects)
}

// Words that origins share with the drivers.
type (
	FolderQuery  = driver.FolderQuery  // finds conversations by the folders in which they were worked on
	WorkedBranch = driver.WorkedBranch // a branch of such a conversation
)

// FindWorkedBranches returns the branches of what was worked on in some folders; see [FolderQuery].
func (p Origins) FindWorkedBranches(ctx context.Context, q FolderQuery) ([]WorkedBranch, error) {
	if q.Projects != nil && len(q.Projects) == 0 {
		return nil, nil
	}
	return p.s.d.Index.FindWorkedBranches(ctx, q)
}

// BackdateConversation dates a conversation back to at, the time of its content in Unix ms, unless
// it has grown: what was imported stands in lists where it belongs.
func (p Origins) BackdateConversation(ctx context.Context, id scrollback.ConversationID, messages, at int64) error {
	grown := errors.New("grown")
	_, err := p.s.d.Log.PatchConversation(ctx, id, min(at, p.s.Now()), func(c *scrollback.Conversation) error {
		if c.Messages != messages {
			return grown
		}
		return nil
	})
	if errors.Is(err, grown) {
		return nil
	}
	return err
}
