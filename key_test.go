package scrollback_test

import (
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A key without projects is for all of them; one with projects makes what it makes in the
// first.
func TestKeyCaller(t *testing.T) {
	all := scrollback.Key{ID: "k1", Name: "n", Role: scrollback.AccessWrite}.Caller()
	if all.Key != "k1" || !all.SeesProject("any") || all.HomeProject() != scrollback.DefaultProject ||
		!all.HasAccess(scrollback.AccessWrite) || all.HasAccess(scrollback.AccessAdmin) {
		t.Errorf("a key for all projects is %+v", all)
	}
	some := scrollback.Key{Role: scrollback.AccessRead, Projects: []string{"b", "a"}}.Caller()
	if some.HomeProject() != "b" || !some.SeesProject("a") || some.SeesProject("") || some.SeesProject("c") ||
		some.HasAccess(scrollback.AccessWrite) {
		t.Errorf("a key for two projects is %+v", some)
	}
}

func TestKeyEnds(t *testing.T) {
	for _, c := range []struct {
		key   scrollback.Key
		ended bool
	}{
		{scrollback.Key{}, false}, {scrollback.Key{ExpiresAt: 101}, false}, {scrollback.Key{ExpiresAt: 100}, true},
		{scrollback.Key{RevokedAt: 5}, true}, {scrollback.Key{RevokedAt: 5, ExpiresAt: 500}, true},
	} {
		if c.key.HasEnded(100) != c.ended {
			t.Errorf("%+v has ended at 100: %v", c.key, !c.ended)
		}
	}
}

func TestRoleAsText(t *testing.T) {
	for _, role := range []scrollback.Access{scrollback.AccessRead, scrollback.AccessWrite, scrollback.AccessAdmin} {
		text, err := json.Marshal(scrollback.Key{Role: role})
		var back scrollback.Key
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.Role != role {
			t.Errorf("%v is %s, read as %v: %v", role, text, back.Role, err)
		}
	}
	for _, wrong := range []string{"", "no", "Admin", "root"} {
		if err := new(scrollback.Access).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is a role", wrong)
		}
	}
}
