package stamp_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Times only grow, whatever the wall clock says, and end where numbers do.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wall   int64
		newest []int64
		want   int64
	}{
		{7, nil, 7}, {7, []int64{3}, 7}, {7, []int64{7}, 8}, {7, []int64{9, 4}, 10},
		{7, []int64{math.MaxInt64}, math.MaxInt64},
	} {
		if got := stamp.Next(c.wall, c.newest...); got != c.want {
			t.Errorf("after %v at %d: %d, not %d", c.newest, c.wall, got, c.want)
		}
	}
}

// The bound is a day, and no sum of it overflows.
func TestIsAhead(t *testing.T) {
	t.Parallel()
	day := stamp.Bound.Milliseconds()
	for _, c := range []struct {
		at, wall int64
		want     bool
	}{{day, 0, false}, {day + 1, 0, true}, {0, day, false}, {math.MaxInt64, math.MaxInt64 - 1, false},
		{math.MaxInt64, 0, true}} {
		if got := (stamp.Stamp{At: c.at}).IsAhead(c.wall); got != c.want {
			t.Errorf("%d at %d: %t", c.at, c.wall, got)
		}
	}
}

// Of two values one wins, whoever asks, unless they are the same.
func TestWins(t *testing.T) {
	t.Parallel()
	for _, a := range []stamp.Stone{{Project: "a"}, {Project: "b"}, {Project: "a", Stamp: stamp.Stamp{At: 1, By: "x"}}} {
		for _, b := range []stamp.Stone{{Project: "a"}, {Project: "b"}, {Project: "a", Stamp: stamp.Stamp{At: 1, By: "y"}}} {
			same := a.At == b.At && a.Project == b.Project
			if a.Beats(b) == b.Beats(a) != same {
				t.Errorf("%+v and %+v: %t, %t", a, b, a.Beats(b), b.Beats(a))
			}
		}
	}
}

// A person's title beats a tool's, that a model's, and that one of a prompt.
func TestTitleRank(t *testing.T) {
	t.Parallel()
	order := []int{stamp.TitleRank(scrollback.TitleGiven, ""), stamp.TitleRank(scrollback.TitlePrompt, "t"),
		stamp.TitleRank(scrollback.TitleModel, "t"), stamp.TitleRank(scrollback.TitleTool, "t"),
		stamp.TitleRank(scrollback.TitleGiven, "t")}
	if !slices.IsSorted(order) || len(slices.Compact(order)) != 5 ||
		stamp.TitleRank(scrollback.TitleAsked, "t") != stamp.TitleRank(scrollback.TitlePrompt, "t") {
		t.Errorf("titles count %v", order)
	}
}

// What comes back has another id each time, and the same one everywhere.
func TestAgainID(t *testing.T) {
	t.Parallel()
	one := stamp.AgainID("a")
	if one != stamp.AgainID("a") || one == stamp.AgainID("b") || stamp.AgainID(one) == one {
		t.Errorf("again is %s", one)
	}
}

// Each field has a rule, so that one which is added is decided about.
func TestEveryFieldHasRule(t *testing.T) {
	t.Parallel()
	name := func(f reflect.StructField) string { return f.Name }
	inJSON := func(f reflect.StructField) string {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return key
	}
	for _, c := range []struct {
		of    reflect.Type
		name  func(reflect.StructField) string
		rules map[string]stamp.Rule
	}{
		{reflect.TypeFor[scrollback.Conversation](), name, stamp.ConversationRules},
		{reflect.TypeFor[scrollback.Settings](), inJSON, stamp.SettingRules},
		{reflect.TypeFor[scrollback.Project](), name, stamp.ProjectRules},
	} {
		left := map[string]bool{}
		for key := range c.rules {
			left[key] = true
		}
		for i := range c.of.NumField() {
			key := c.name(c.of.Field(i))
			if c.rules[key] == 0 {
				t.Errorf("%s of %s has no rule: does it travel between stores?", key, c.of)
			}
			delete(left, key)
		}
		for key := range left {
			t.Errorf("%s of %s has a rule, and is not there", key, c.of)
		}
	}
}

// snapshot returns a conversation's.
func snapshot(t *testing.T, c scrollback.Conversation) stamp.Snapshot {
	t.Helper()
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return stamp.TakeSnapshot(&c, string(settings))
}

// A field is stamped if and only if its rule says so: one that gets a rule, and is left out where changes are looked
// for, is found here. Pins are compared by who knows the messages, and who gave a title goes with the title.
func TestChangesFollowRules(t *testing.T) {
	t.Parallel()
	f := &filltest.Filler{}
	was := filltest.Filled[scrollback.Conversation](f)
	other := filltest.Filled[scrollback.Conversation](f)
	other.DeletedAt = 0
	for name, rule := range stamp.ConversationRules {
		if name == "PinnedSeqs" || name == "TitleBy" {
			continue
		}
		now := was
		reflect.ValueOf(&now).Elem().FieldByName(name).Set(reflect.ValueOf(other).FieldByName(name))
		changed := snapshot(t, was).Changes(snapshot(t, now))
		if travels := rule == stamp.Stamped || rule == stamp.EachKey; len(changed) > 0 != travels {
			t.Errorf("an edit of %s changes %v", name, changed)
		}
	}
	for i := range reflect.TypeFor[scrollback.Settings]().NumField() {
		now := was
		field := reflect.TypeFor[scrollback.Settings]().Field(i)
		if now.Settings = was.Settings; field.Type.Kind() == reflect.Bool {
			reflect.ValueOf(&now.Settings).Elem().Field(i).SetBool(false)
		} else {
			reflect.ValueOf(&now.Settings).Elem().Field(i).Set(reflect.Zero(field.Type))
		}
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var want []stamp.Change
		if stamp.SettingRules[key] == stamp.Stamped {
			want = []stamp.Change{{Field: "settings." + key}}
		}
		if changed := snapshot(t, was).Changes(snapshot(t, now)); !slices.Equal(changed, want) {
			t.Errorf("an edit of the setting %s changes %v", key, changed)
		}
	}
	project := filltest.Filled[scrollback.Project](f)
	next := filltest.Filled[scrollback.Project](f)
	for name, rule := range stamp.ProjectRules {
		now := project
		reflect.ValueOf(&now).Elem().FieldByName(name).Set(reflect.ValueOf(next).FieldByName(name))
		changed, err := stamp.ProjectChanges(project, now)
		if travels := rule == stamp.Stamped || rule == stamp.EachKey; err != nil || len(changed) > 0 != travels {
			t.Errorf("an edit of a project's %s changes %v, %v", name, changed, err)
		}
	}
}
