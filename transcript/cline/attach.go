package cline

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// addAttachment adds an image or a file, if the block is one that has its bytes or its address.
func (c *content) addAttachment(b map[string]json.RawMessage) bool {
	kind := readText(b["type"])
	if kind != "image" && kind != "file" && kind != "document" {
		return false
	}
	src := objectFields(b["source"])
	media := firstNonEmpty(src["media_type"], b["mediaType"], b["mimeType"], b["media_type"])
	data := firstNonEmpty(src["data"], src["url"], b["image"], b["data"], b["url"])
	name := path.Base(strings.ReplaceAll(firstNonEmpty(b["filename"], b["name"], b["title"]), `\`, "/"))
	if name == "." || name == "/" {
		name = ""
	}
	if strings.HasPrefix(data, "http://") || strings.HasPrefix(data, "https://") {
		if kind != "image" {
			return false
		}
		c.addPart(scrollback.Image{URL: data, MediaType: media, Name: name})
		return true
	}
	if rest, ok := strings.CutPrefix(data, "data:"); ok {
		var kinds string
		kinds, data, _ = strings.Cut(rest, ",")
		media = strings.TrimSuffix(kinds, ";base64")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return false
	}
	if c.bytes == nil {
		c.bytes = map[int][]byte{}
	}
	c.bytes[len(c.parts)] = raw
	if kind == "image" {
		c.addPart(scrollback.Image{MediaType: media, Name: name})
	} else {
		c.addPart(scrollback.File{MediaType: media, Name: name})
	}
	return true
}

// firstNonEmpty returns the first of the texts that is not empty.
func firstNonEmpty(all ...json.RawMessage) string {
	for _, raw := range all {
		if s := readText(raw); s != "" {
			return s
		}
	}
	return ""
}
