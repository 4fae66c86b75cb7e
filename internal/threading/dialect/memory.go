package dialect

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Reader reads requests, and remembers the messages of the newest: clients send their whole history with each one, and
// only its end is new. It is safe for concurrent use.
type Reader struct {
	seeds [2]maphash.Seed

	mu    sync.Mutex
	young map[messageKey][]threading.Item
	old   map[messageKey][]threading.Item
	size  int // of the young ones
}

// NewReader makes a reader that knows nothing.
func NewReader() *Reader {
	return &Reader{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		young: map[messageKey][]threading.Item{}}
}

// messageKey is what a message is known by: nobody outside the process can make two with the same one.
type messageKey struct {
	dialect threading.Dialect
	hash    [2]uint64
	size    int
}

// rememberedBytes is how many bytes of messages, as they came, a generation of them has.
const rememberedBytes = 16 << 20

func (r *Reader) keyOf(d threading.Dialect, message []byte) messageKey {
	return messageKey{d, [2]uint64{maphash.Bytes(r.seeds[0], message), maphash.Bytes(r.seeds[1], message)}, len(message)}
}

// find returns the items of messages, nil for those that are not known.
func (r *Reader) find(keys []messageKey) [][]threading.Item {
	out := make([][]threading.Item, len(keys))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range keys {
		items, known := r.young[k]
		if !known {
			if items, known = r.old[k]; known {
				r.keep(k, items)
			}
		}
		if known {
			out[i] = items
		}
	}
	return out
}

func (r *Reader) keep(k messageKey, items []threading.Item) {
	if r.size += k.size; r.size > rememberedBytes {
		r.old = r.young
		r.young = map[messageKey][]threading.Item{}
		r.size = k.size
	}
	r.young[k] = items
}

// histories are the fields in which the dialects send messages.
var histories = map[threading.Dialect]string{threading.Chat: "messages", threading.Messages: "messages",
	threading.Ollama: "messages", threading.Responses: "input", threading.Gemini: "contents"}

// knownMessages are the messages of one body: their keys, and the items of those that are known.
type knownMessages struct {
	reader *Reader
	keys   []messageKey
	items  [][]threading.Item
	fresh  []freshMessage
}

// findKnown looks the messages of a body up, and returns the body with a number in the place of each that is known: the
// rest of it is read as ever.
func (r *Reader) findKnown(d threading.Dialect, body []byte) (knownMessages, []byte) {
	out := knownMessages{reader: r}
	var spans []splice.Span
	for _, m := range splice.ListMembers(body) {
		if m.Name != histories[d] {
			continue
		}
		spans = splice.ListSpans(body[m.Value.From:m.Value.To])
		for i := range spans {
			spans[i].From += m.Value.From
			spans[i].To += m.Value.From
		}
	}
	for _, s := range spans {
		out.keys = append(out.keys, r.keyOf(d, body[s.From:s.To]))
	}
	out.items = r.find(out.keys)
	if !slices.ContainsFunc(out.items, func(items []threading.Item) bool { return items != nil }) {
		return out, body
	}
	bare := make([]byte, 0, 4096)
	from := 0
	for i, s := range spans {
		if out.items[i] == nil {
			continue
		}
		bare = append(bare, body[from:s.From]...)
		bare = append(bare, '0')
		from = s.To
	}
	return out, append(bare, body[from:]...)
}

// readEach reads the messages of a list: those that are known from memory, the others by read.
func (l *list) readEach(messages []any, read func(m any)) {
	known := &l.known
	if len(known.keys) != len(messages) { // the field stands there twice, or is no list
		known.keys = nil
	}
	for i, m := range messages {
		l.message = i
		if known.keys == nil {
			read(m)
			continue
		}
		if items := known.items[i]; items != nil {
			l.request.Items = append(l.request.Items, items...)
			for j := len(l.request.Items) - len(items); j < len(l.request.Items); j++ {
				l.request.Items[j].Message = i
			}
			continue
		}
		start := len(l.request.Items)
		read(m)
		items := make([]threading.Item, 0, len(l.request.Items)-start)
		for j := start; j < len(l.request.Items); j++ {
			l.request.Items[j].Remember()
			items = append(items, l.request.Items[j])
		}
		if len(items) > 0 { // else it may be what says something of the whole request
			known.fresh = append(known.fresh, freshMessage{known.keys[i], items})
		}
	}
}

// freshMessage is a message that was not known.
type freshMessage struct {
	key   messageKey
	items []threading.Item
}

// remember keeps the messages that were not known.
func (k *knownMessages) remember() {
	k.reader.mu.Lock()
	defer k.reader.mu.Unlock()
	for _, f := range k.fresh {
		k.reader.keep(f.key, f.items)
	}
}
