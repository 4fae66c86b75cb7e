package openai

import "encoding/json"

// wantsUsage reports whether a stream is to end with its usage.
func wantsUsage(body []byte) bool {
	var b struct {
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	return json.Unmarshal(body, &b) == nil && b.Options.Usage
}
