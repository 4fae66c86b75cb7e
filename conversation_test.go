package scrollback

import (
	"encoding/json"
	"reflect"
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
		`{"pinned":true,"recall_scope":"all","thinking":false,"new":[1]}`: {Pinned: true, RecallScope: ScopeAll,
			Thinking: &off},
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
