package recall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/model"
)

// Arguments that are nearly right are taken as they were meant; of others the model is told
// what it sent, and nothing of how it was passed on.
func TestNearlyRightArguments(t *testing.T) {
	want := scrollback.GrepQuery{Pattern: "depot", MaxResults: 5}
	for _, sent := range []string{
		`{"pattern":"depot","max_results":5}`,
		`{"pattern":"depot","max_results":"5","case_sensitive":"false"}`,
		`{"pattern":"depot","max_results":5.0,"reason":null}`,
		`"{\"pattern\":\"depot\",\"max_results\":5}"`,
		`"\"{\\\"pattern\\\":\\\"depot\\\",\\\"max_results\\\":5}\""`,
		`{"pattern":"depot","max_results":5} {"pattern":"depot","max_results":5}`,
		`[{"pattern":"depot","max_results":5}]`,
		`{"arguments":{"pattern":"depot","max_results":5}}`,
		`{"input":"{\"pattern\":\"depot\",\"max_results\":5}"}`,
		`{"pattern":"depot","maxResults":"5","caseSensitive":false}`,
		`{"pattern":["depot"],"max_results":5}`,
		`{"pattern":"depot","max_results":5}}`,
		`{"pattern":"depot","max_results":5}]}`,
		`{}{"pattern":"depot","max_results":5}`,
		`{"pattern":"depot","max_results":5}{}`,
		`{"name":"context_grep","parameters":{"pattern":"depot","max_results":5}}`,
		`{"pattern":"depot","max_results":5,}`,
		`{'pattern':'depot','max_results':5,'case_sensitive':False,'ref':None}`,
		"```json\n{\"pattern\":\"depot\",\"max_results\":5}\n```",
	} {
		got, err := recall.DecodeArguments[scrollback.GrepQuery](model.ParseArguments(sent))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", sent, got, err)
		}
	}
	for sent, pattern := range map[string]string{
		`{'pattern':'it\'s "so"'}`:                 `it's "so"`,
		"{\"pattern\":\"a\nb\",}":                  "a\nb",
		`{'pattern':'True, [x,] {}'}`:              "True, [x,] {}",
		`{"pattern":"it's","case_sensitive":True}`: "it's",
	} {
		if got, err := recall.DecodeArguments[scrollback.GrepQuery](model.ParseArguments(sent)); err != nil ||
			got.Pattern != pattern {
			t.Errorf("%s: %+v, %v", sent, got, err)
		}
	}
	for sent, says := range map[string]string{
		`{"pattern": depot"}`:                    `are not JSON: send one JSON object. You sent: {"pattern": depot"}`,
		`{"pattern":"depot"}{"pattern":"crate"}`: "are several JSON objects",
		`[1]`:                                    "are not a JSON object",
		`[{"pattern":"depot"},{"pattern":"crate"}]`:  "are not a JSON object",
		`{"pattern":"depot"} and so on`:              "are not JSON",
		`{"arguments":{"pattern":"x"},"pattern":""}`: `unknown field "arguments"`,
		`{"pattern":"depot","path":"src"}`:           `unknown field "path"`,
		`{"pattern":"depot","max_results":"a few"}`:  "max_results cannot be",
		`{"pattern":"depot"`:                         "are not JSON",
		`{"pattern":'depot}`:                         "are not JSON",
		`{"pattern":Depot}`:                          "are not JSON",
	} {
		_, err := recall.DecodeArguments[scrollback.GrepQuery](model.ParseArguments(sent))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "malformed") {
			t.Errorf("%s: %v", sent, err)
		}
	}
	if got, err := recall.DecodeArguments[scrollback.GrepQuery](json.RawMessage(`{"pattern":42}`)); err != nil ||
		got.Pattern != "42" {
		t.Errorf("a number as a pattern: %+v, %v", got, err)
	}
}
