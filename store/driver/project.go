package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Projects keeps what is stored of projects. Conversations name a project whether it is
// stored or not, and nothing here reads or changes them.
type Projects interface {
	// Get is what is stored of a project; without a row, a project with only its name. It
	// does not count conversations.
	Get(ctx context.Context, name string) (scrollback.Project, error)

	// Put lets edit change what is stored of a project, or begin with only its name, and
	// stores the result with a grown Version. An error of edit changes nothing and is
	// returned as it is. Name, CreatedAt and Version are not edit's to change.
	Put(ctx context.Context, name string, now int64, edit func(*scrollback.Project) error) (scrollback.Project, error)

	// Delete removes what is stored of a project, if judge allows it; not_found if nothing
	// is. An error of judge changes nothing and is returned as it is.
	Delete(ctx context.Context, name string, judge func(scrollback.Project) error) error
}

// Entitle moves a conversation from one state of its title to another, in one transaction:
// Usage enters the books, and if the conversation's TitleBy is From it becomes To. A Title
// that is not empty then becomes the conversation's, with a grown Version; without one its
// Version stays. A conversation in the trash or in another state keeps its title and state.
type Entitle struct {
	Conversation scrollback.ConversationID
	Now          int64
	From, To     scrollback.TitleState
	Title        string
	Usage        []scrollback.UsageRecord
}
