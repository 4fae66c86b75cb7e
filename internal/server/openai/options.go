package openai

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback/internal/splice"
)

// wantsUsage reports whether a stream is to end with its usage.
func wantsUsage(body []byte) bool {
	var options struct {
		Usage bool `json:"include_usage"`
	}
	return json.Unmarshal(splice.GetField(body, "stream_options"), &options) == nil && options.Usage
}
