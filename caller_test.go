package scrollback_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
)

func TestCallerSees(t *testing.T) {
	for name, c := range map[string]struct {
		caller               scrollback.Caller
		unnamed, ours, other bool
	}{
		"nobody":        {scrollback.Caller{}, false, false, false},
		"operator":      {scrollback.Operator(), true, true, true},
		"reader of one": {scrollback.Caller{Access: scrollback.AccessRead, Projects: []string{"ours"}}, false, true, false},
		"of the default": {scrollback.Caller{Access: scrollback.AccessRead, Projects: []string{scrollback.DefaultProject}},
			true, false,
			false},
		"writer of none":  {scrollback.Caller{Access: scrollback.AccessWrite}, false, false, false},
		"admin of none":   {scrollback.Caller{Access: scrollback.AccessAdmin}, false, false, false},
		"all, no access":  {scrollback.Caller{AllProjects: true}, false, false, false},
		"some, no access": {scrollback.Caller{Projects: []string{"ours", "default"}}, false, false, false},
		"all, read only":  {scrollback.Caller{Access: scrollback.AccessRead, AllProjects: true}, true, true, true},
		"an empty name":   {scrollback.Caller{Access: scrollback.AccessRead, Projects: []string{""}}, false, false, false},
		"all beside a list": {scrollback.Caller{Access: scrollback.AccessRead, AllProjects: true, Projects: []string{"ours"}},
			true, true, true},
	} {
		for project, want := range map[string]bool{"": c.unnamed, scrollback.DefaultProject: c.unnamed, "ours": c.ours,
			"else": c.other,
			"Ours": c.other} {
			if got := c.caller.SeesProject(project); got != want {
				t.Errorf("%s sees %q: %v, want %v", name, project, got, want)
			}
		}
	}
}

// Each level of access includes those before it, and the zero value none.
func TestCallerMay(t *testing.T) {
	levels := []scrollback.Access{scrollback.AccessRead, scrollback.AccessWrite, scrollback.AccessAdmin}
	for i, has := range append([]scrollback.Access{0}, levels...) {
		for k, needs := range levels {
			if got := (scrollback.Caller{Access: has, AllProjects: true}).HasAccess(needs); got != (k < i) {
				t.Errorf("a caller with %s access may %s: %v", has, needs, got)
			}
		}
	}
}
