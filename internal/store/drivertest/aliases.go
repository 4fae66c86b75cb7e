package drivertest

import (
	"fmt"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var aliasKinds = []driver.AliasKind{driver.AliasConversation, driver.AliasBranch, driver.AliasMessage,
	driver.AliasTurn, driver.AliasSegment}

// RunAliases runs the suite. Each call of open returns an empty driver.
func RunAliases(t *testing.T, open func(t *testing.T) *driver.Driver) {
	t.Run("Aliases", func(t *testing.T) {
		d := open(t)
		defer d.Close()
		testAliases(newHarness(t, d))
	})
}

// testAliases: an id that was given up leads to the one that is shown, whatever was given up since.
func testAliases(w *harness) {
	const kind = driver.AliasSegment
	find := func(kind driver.AliasKind, prefix string, limit int) map[string]string {
		w.t.Helper()
		all, err := w.Log.FindAliases(w.ctx, kind, prefix, limit)
		w.wantOK(err)
		out := map[string]string{}
		for i, a := range all {
			if out[a.ID] = a.Now; a.Kind != kind || i > 0 && a.ID <= all[i-1].ID {
				w.t.Errorf("alias %d of %q: %+v", i, prefix, all)
			}
		}
		return out
	}
	for i, c := range []struct {
		put  string
		want map[string]string
	}{
		{"", map[string]string{}},
		{"b>a", map[string]string{"b": "a"}},
		{"b>a", map[string]string{"b": "a"}},
		{"c>b", map[string]string{"b": "a", "c": "a"}},           // what stands for another that was given up
		{"a>0", map[string]string{"a": "0", "b": "0", "c": "0"}}, // which is given up itself
		{"0>0", map[string]string{"a": "0", "b": "0", "c": "0"}}, // nothing is
		{"0>b", map[string]string{"0": "b", "a": "b", "c": "b"}}, // it is shown again
		{"c>x", map[string]string{"0": "b", "a": "b", "c": "x"}}, // what was said last
		{"d>e e>f", map[string]string{"0": "b", "a": "b", "c": "x", "d": "f", "e": "f"}},
	} {
		var all []driver.Alias
		for at := 0; at+2 < len(c.put); at += 4 {
			all = append(all, driver.Alias{Kind: kind, ID: c.put[at : at+1], Now: c.put[at+2 : at+3]})
		}
		w.wantOK(w.Log.PutAliases(w.ctx, all))
		w.wantSame(fmt.Sprintf("step %d, %s", i, c.put), c.want, find(kind, "", 100))
	}
	w.wantSame("of another kind", map[string]string{}, find(driver.AliasTurn, "", 100))
	w.wantOK(w.Log.PutAliases(w.ctx, []driver.Alias{{Kind: driver.AliasTurn, ID: "a", Now: "t"},
		{Kind: driver.AliasTurn, ID: "ab", Now: "t"}, {Kind: driver.AliasTurn, ID: "b%", Now: "t"}}))
	w.wantSame("of it", map[string]string{"a": "t", "ab": "t"}, find(driver.AliasTurn, "a", 100))
	w.wantSame("the first", map[string]string{"a": "t"}, find(driver.AliasTurn, "a", 1))
	w.wantSame("none", map[string]string{}, find(driver.AliasTurn, "a%", 100))
	w.wantSame("a mark of patterns", map[string]string{"b%": "t"}, find(driver.AliasTurn, "b%", 100))
	w.wantSame("as it was", map[string]string{"0": "b", "a": "b", "c": "x", "d": "f", "e": "f"}, find(kind, "", 100))
}
