package mtm

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// contextItem is what the notebook keeps of a file that its prompts named.
type contextItem struct {
	Type    string  `json:"type"`
	Key     string  `json:"key"`
	Version int     `json:"version"`
	Content *string `json:"content"`
}

// fillVersions gives the first block that says that a file has not changed since a version the
// content of that version, if it is only among the notebook's items: the prompt that showed
// it may have been deleted. Blocks that were written here say what they mean.
func (n *notebook) fillVersions() {
	items := map[string]contextItem{}
	for _, raw := range splice.ListValues(splice.GetField(splice.GetField(n.file.Shell, "metadata"), "contextItems")) {
		var it contextItem
		if json.Unmarshal(raw, &it) == nil && it.Type == "file" && it.Version > 0 && it.Content != nil {
			items[it.Key] = it
		}
	}
	for _, g := range n.cells {
		if len(items) == 0 {
			return
		}
		if g.role != scrollback.RoleUser {
			continue
		}
		meta := cell.ReadMeta(splice.GetField(g.head.Raw, "metadata"))
		var block cell.Ghost
		if json.Unmarshal(meta.Ghost, &block) != nil {
			continue
		}
		for _, f := range block.Files {
			it, ok := items[f.Key]
			if !ok || it.Version != f.Version {
				continue
			}
			if string(f.Content) == "null" && meta.Own == nil {
				if g.contents == nil {
					g.contents = map[string]string{}
				}
				g.contents[f.Key] = *it.Content
			}
			delete(items, f.Key)
		}
	}
}
