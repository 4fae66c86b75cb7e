package scrollback

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Settings name their numbers compaction, and are read under the old name, folding,
// too; the new name wins, and everything else is read as ever.
func TestSettingsNames(t *testing.T) {
	off := false
	for text, want := range map[string]Settings{
		`{"compaction":{"keep_share":0.4}}`:                             {Compaction: map[string]float64{"keep_share": 0.4}},
		`{"folding":{"keep_share":0.3}}`:                                {Compaction: map[string]float64{"keep_share": 0.3}},
		`{"compaction":{"keep_share":0.4},"folding":{"check_calls":1}}`: {Compaction: map[string]float64{"keep_share": 0.4}},
		`{"folding":{"check_calls":1},"compaction":{}}`:                 {Compaction: map[string]float64{}},
		`{"folding":{"check_calls":1},"compaction":null}`:               {Compaction: map[string]float64{"check_calls": 1}},
		`{}`:   {},
		`null`: {},
		`{"pinned":true,"recall_scope":"all","thinking":false,"new":[1]}`: {Pinned: true, RecallScope: ScopeAll, Thinking: &off},
	} {
		var got Settings
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{`{"compaction":{"keep_share":"x"}}`, `{"folding":[1]}`, `{"pinned":1}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(Settings)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	b, err := json.Marshal(Settings{Compaction: map[string]float64{"keep_share": 0.4}})
	if want := `{"compaction":{"keep_share":0.4}}`; err != nil || string(b) != want {
		t.Errorf("written as %s, %v; want %s", b, err, want)
	}
}

func TestCopyTitle(t *testing.T) {
	for _, c := range [][3]string{{CopyOf, "Tides", "copy of Tides"}, {CopyOf, "copy of Tides", "copy of Tides"}, {CopyOf, "", ""},
		{CopyOfChinese, "潮汐", "潮汐的副本"}, {CopyOfChinese, "copy of 100%s", "100%s的副本"}, {CopyOf, "潮汐的副本", "copy of 潮汐"}} {
		if got := CopyTitle(c[0], c[1]); got != c[2] {
			t.Errorf("a copy of %q is called %q, want %q", c[1], got, c[2])
		}
	}
	if got := []rune(CopyTitle(CopyOfChinese, strings.Repeat("题", 500))); len(got) > 490 {
		t.Errorf("a title of %d characters", len(got))
	}
}
