package compact

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A number that a row of the table names is the policy's, also 0; one that it leaves out is the shared one.
func TestRowsKeepTheirNumbers(t *testing.T) {
	shared := sharedPolicy()
	for _, n := range Numbers() {
		for _, v := range []float64{n.Least, n.Most} {
			row := policyPreset{name: "p", numbers: map[string]float64{n.Name: v}}
			p, err := row.policy()
			if err != nil {
				t.Fatal(err)
			}
			for number, got := range p.Numbers() {
				if want := shared.Numbers()[number]; number != n.Name && got != want || number == n.Name && got != v {
					t.Errorf("a row with %s = %v has %s = %v", n.Name, v, number, got)
				}
			}
		}
	}
	for _, row := range policyPresets {
		p := named(t, row.name)
		if p.Name != row.name || p.Summarizes != row.summarizes {
			t.Errorf("the row of %s becomes %+v", row.name, p)
		}
	}
	if _, err := (policyPreset{numbers: map[string]float64{"keep": 1}}).policy(); err == nil {
		t.Error("a row with a number that is not known is taken")
	}
}

// The policies are these, number for number: conversations that are stored name them.
func TestPoliciesStay(t *testing.T) {
	shared := Policy{TriggerShare: 0.9, LeastShare: 0.25, MostShare: 0.7, SummaryTokens: 4000, SummaryShare: 0.15,
		SaidShare: 0.25, PlaceholderTokens: 400, PlaceholderShare: 0.05, PlaceholdersMax: 8, PlaceholdersShare: 0.10,
		PinnedShare: 0.10, ShrinkShare: 0.95, RetryGrowth: 1.2, FailuresMax: 3}
	snapshot := shared
	snapshot.Name = Snapshot
	snapshot.Summarizes = true
	snapshot.TriggerLimitShare = 0.7
	snapshot.AfterShare = 0.4
	snapshot.KeepShare = 0.3
	snapshot.ExtractLines = 5
	rolling := shared
	rolling.Name = Rolling
	rolling.Summarizes = true
	rolling.TriggerMessages = 12
	rolling.TriggerTokens = 3500
	rolling.NewMessages = 4
	rolling.AfterShare = 0.6
	rolling.KeepShare = 0.5
	rolling.KeepMessages = 4
	rolling.ExtractLines = 3
	segments := shared
	segments.Name = Segments
	segments.AfterShare = 0.5
	segments.KeepMessages = 4
	segments.ExtractLines = 5
	for _, want := range []Policy{snapshot, rolling, segments} {
		if got := named(t, want.Name); got != want {
			t.Errorf("%s is %+v, not %+v", want.Name, got, want)
		}
	}
}

// Each number can be replaced by its name, later sets override earlier ones, and
// nothing else changes.
func TestNumbers(t *testing.T) {
	for _, name := range Names()[1:] {
		preset := named(t, name).Numbers()
		for number, was := range preset {
			now := was * 0.98
			if was == math.Trunc(was) && was != 1 {
				now = was + 1
			}
			if number == "trigger_messages" {
				now = was + 20
			}
			if number == "after_share" || number == "retry_growth" {
				now = was + 0.01
			}
			got, err := FindPolicy(name, true, map[string]float64{number: was}, map[string]float64{number: now})
			if err != nil {
				t.Errorf("%s: %s = %v: %v", name, number, now, err)
				continue
			}
			for other, v := range got.Numbers() {
				if want := preset[other]; other != number && v != want || other == number && v != now {
					t.Errorf("%s: with %s = %v, %s is %v", name, number, now, other, v)
				}
			}
		}
	}
}

func TestNumbersRefused(t *testing.T) {
	for _, c := range []struct {
		policy string
		set    map[string]float64
		want   string
	}{
		{"segments", map[string]float64{"keep": 4}, `unknown number "keep"`},
		{"segments", map[string]float64{"keep_messages": 2.5}, "keep_messages is a whole number"},
		{"segments", map[string]float64{"keep_messages": -1}, "from 0 to 100000, not -1"},
		{"segments", map[string]float64{"after_share": math.NaN()}, "after_share is a number"},
		{"segments", map[string]float64{"after_share": math.Inf(1)}, "after_share is a number"},
		{"segments", map[string]float64{"after_share": 0.9}, "must be less than trigger_share"},
		{"snapshot", map[string]float64{"trigger_share": 0.3}, "must be less than trigger_share"},
		{"snapshot", map[string]float64{"summary_share": 0.2}, "at most 0.25 together"},
		{"snapshot", map[string]float64{"trigger_limit_share": 0.3}, "every request would be compacted"},
		{"segments", map[string]float64{"placeholder_share": 0.06}, "for each of two placeholders"},
		{"rolling", map[string]float64{"trigger_messages": 7}, "are more than trigger_messages (7)"},
	} {
		_, err := FindPolicy(c.policy, true, c.set)
		if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.policy, c.set, err, c.want)
		}
	}
}

// The guide lists every number with its value in each preset, a column each.
func TestGuideToNumbers(t *testing.T) {
	guide, err := os.ReadFile("../docs/guides/compaction.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "\n| number |")
	table, _, _ = strings.Cut("| number |"+table, "\n\n")
	rows := strings.Split(table, "\n")
	cells := func(row string) (out []string) {
		for _, cell := range strings.Split(row, "|") {
			out = append(out, strings.TrimSpace(cell))
		}
		return out
	}
	columns := cells(rows[0])
	told := map[string][]string{}
	for _, row := range rows[min(2, len(rows)):] {
		if of := cells(row); len(of) == len(columns) {
			told[strings.Trim(of[1], "`")] = of
		}
	}
	for _, name := range Names()[1:] {
		numbers := named(t, name).Numbers()
		if len(numbers) != len(told) {
			t.Errorf("there are %d numbers, the guide has %d", len(numbers), len(told))
		}
		column := slices.Index(columns, name)
		if column < 0 {
			t.Errorf("the guide's table of numbers has no column %s", name)
			continue
		}
		for number, v := range numbers {
			if want := strconv.FormatFloat(v, 'f', -1, 64); len(told[number]) == 0 || told[number][column] != want {
				t.Errorf("%s has %s = %s, the guide says %v", name, number, want, told[number])
			}
		}
	}
}

// Rolling folds when much is live and enough of it is new.
func TestRollingTriggers(t *testing.T) {
	p := named(t, Rolling)
	b := scrollback.Budget{Limit: 100_000, Weight: scrollback.Weight{Tokens: 75_000, Bytes: 1000, Images: 20}}
	for _, c := range []struct {
		load requestLoad
		want bool
	}{
		{requestLoad{messages: 11, tokens: 3499, fresh: 11}, false},
		{requestLoad{messages: 12, tokens: 100, fresh: 4}, true},
		{requestLoad{messages: 12, tokens: 100, fresh: 3}, false},
		{requestLoad{messages: 5, tokens: 3500, fresh: 4}, true},
		{requestLoad{messages: 5, tokens: 90_000, fresh: 3}, false},
		{requestLoad{messages: 5, tokens: 90_000, fresh: 1, window: scrollback.Weight{Tokens: 70_000}}, true},
	} {
		c.load.budget = b
		if got := p.isTriggered(c.load); got != c.want {
			t.Errorf("%+v: %v", c.load, got)
		}
	}
}

// In a small window, rolling waits until the half that it keeps is a quarter of the
// budget. In a bigger one it does not, until that much is live.
func TestRollingSpares(t *testing.T) {
	p := named(t, Rolling)
	for _, c := range []struct {
		budget, live int64
		want         bool
	}{
		{6000, 600, false}, {6000, 2999, false}, {6000, 3000, true},
		{14_000, 3500, false}, {14_000, 6999, false}, {14_000, 7000, true},
		{14_004, 600, true}, {30_000, 3500, true}, {30_000, 7499, true}, {30_000, 7500, false}, {30_000, 15_000, true},
	} {
		b := scrollback.Budget{Limit: 2 * c.budget, Weight: scrollback.Weight{Tokens: c.budget, Bytes: 1 << 20, Images: 20}}
		if got := p.isTriggered(requestLoad{budget: b, messages: 20, fresh: 20, tokens: c.live}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// After a fold a window stays well below what triggers the next one.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		policy               string
		set                  map[string]float64
		limit, budget, share int64
	}{
		{Segments, nil, 8000, 6000, 70},
		{Snapshot, nil, 8000, 6000, 70},
		{Snapshot, nil, 200_000, 198_000, 56}, // four fifths of 140,000
		{Segments, map[string]float64{"most_share": 0.6}, 8000, 6000, 60},
		{Segments, map[string]float64{"trigger_share": 0.6, "after_share": 0.3}, 8000, 6000, 48},
		{Segments, map[string]float64{"trigger_share": 0.6, "after_share": 0.55}, 8000, 6000, 55},
	} {
		p := named(t, c.policy, c.set)
		b := scrollback.Budget{Limit: c.limit, Weight: scrollback.Weight{Tokens: c.budget}}
		if got := p.mostAfter(b, 0) * 100 / c.budget; got < c.share-1 || got > c.share {
			t.Errorf("%+v: %d %%", c, got)
		}
	}
}
