package door

import (
	"bytes"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// madeIDs finds the ids of what lives at a provider, in a request or in an answer: files, and the containers in which
// models run programs. Anthropic's answers have a container as an object, and requests name it by a text, as those of
// OpenAI do.
var madeIDs = lazyregexp.New(
	`"(?:file_id|container_id|container)"\s*:\s*(?:\{\s*"id"\s*:\s*)?"([A-Za-z0-9_-]{8,200})"`)

// mayHoldMadeIDs reports whether a text has one of their fields. A history of megabytes seldom has, and is searched
// for as little as can be.
func mayHoldMadeIDs(b []byte) bool {
	if bytes.Contains(b, []byte(`"file_id"`)) {
		return true
	}
	at := bytes.Index(b, []byte(`"container`))
	return at >= 0 && (bytes.Contains(b[at:], []byte(`"container"`)) || bytes.Contains(b[at:], []byte(`"container_id"`)))
}

// listMadeIDs returns the ids in a text, each once.
func listMadeIDs(texts ...[]byte) (out []string) {
	for _, b := range texts {
		if !mayHoldMadeIDs(b) {
			continue
		}
		for _, m := range madeIDs().FindAllSubmatch(b, -1) {
			if id := string(m[1]); !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// checkMadeIDs refuses a request that names what an answer to another caller made at the provider.
func checkMadeIDs(ctx context.Context, v *engine.View, r *Request) error {
	if r.Dialect != threading.Messages && r.Dialect != threading.Responses && r.Dialect != threading.Chat {
		return nil
	}
	return v.CheckMadeIDs(ctx, listMadeIDs(r.Body))
}

// noteMadeIDs remembers what a forwarded answer made at its provider: not what its request names already.
func noteMadeIDs(ctx context.Context, v *engine.View, r *Request, rel *relay) error {
	rel.mu.Lock()
	frames := rel.frames
	rel.mu.Unlock()
	made := listMadeIDs(frames...)
	if len(made) == 0 {
		return nil
	}
	named := listMadeIDs(r.Body)
	made = slices.DeleteFunc(made, func(id string) bool { return slices.Contains(named, id) })
	if len(made) == 0 {
		return nil
	}
	return v.NoteMadeIDs(ctx, rel.head.Conversation, made)
}
