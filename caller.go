package scrollback

import (
	"slices"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Access is what a caller may do; each level includes those before it.
type Access int

// The levels of access. The zero value may do nothing.
const (
	AccessRead  Access = iota + 1 // list, read, search, export
	AccessWrite                   // say something, change, compact, import, purge
	AccessAdmin                   // grant folders, empty the trash, forget what models taught
)

// Caller identifies who makes a request: what it may do, and in which projects. What is not
// a caller's is not_found to it; the zero value sees nothing.
type Caller struct {
	Name        string // for the log; may be empty
	Key         KeyID  // whose requests are counted together; empty for the operator
	Access      Access
	AllProjects bool
	Projects    []string // those it sees, unless it sees all
	Door        string   // how its clients of other APIs are answered; empty leaves it to the project
	Bound       string   // why it may do no more, for people; may be empty
}

// RestrictToRead returns the caller with read access at most. bound says why.
func (c Caller) RestrictToRead(bound string) Caller {
	if c.Access > AccessRead {
		c.Access = AccessRead
		c.Bound = bound
	}
	return c
}

// AccessError returns the error of a caller without the access that op needs.
func (c Caller) AccessError(op string, need Access) error {
	if c.Bound != "" {
		return Errorf(Refused, op, "%s", c.Bound)
	}
	return Errorf(Refused, op, i18n.NeedsAccess, need)
}

// Operator returns the caller who may do everything, everywhere: the person who runs the program.
func Operator() Caller { return Caller{Name: "operator", Access: AccessAdmin, AllProjects: true} }

// SeesProject reports whether a project is one of the caller's; an empty name is the default
// project.
func (c Caller) SeesProject(project string) bool {
	if project == "" {
		project = DefaultProject
	}
	return c.Access >= AccessRead && (c.AllProjects || slices.Contains(c.Projects, project))
}

// HomeProject returns the project of what the caller creates without naming one.
func (c Caller) HomeProject() string {
	if c.AllProjects || len(c.Projects) == 0 {
		return DefaultProject
	}
	return c.Projects[0]
}

// HasAccess reports whether the caller has at least this access.
func (c Caller) HasAccess(a Access) bool { return c.Access >= a }

// String returns the level's name.
func (a Access) String() string {
	switch a {
	case AccessRead:
		return "read"
	case AccessWrite:
		return "write"
	case AccessAdmin:
		return "admin"
	}
	return "no"
}
