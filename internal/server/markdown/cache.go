package markdown

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// cacheBytes is how much HTML is remembered. Only what took work is worth it.
const (
	cacheBytes = 16 << 20
	leastBytes = 400
)

// cacheKey tells one text in one place from all others.
func (o Options) cacheKey(source string) [32]byte {
	where, _ := json.Marshal(o) // four plain fields
	h := sha256.New()
	h.Write(where)
	h.Write([]byte{0})
	h.Write([]byte(source))
	return [32]byte(h.Sum(nil))
}

// htmlCache remembers what was asked for last, up to a size.
type htmlCache struct {
	lock  sync.Mutex
	most  int
	bytes int
	order *list.List // of entries, the newest first
	by    map[[32]byte]*list.Element
}

type cachedHTML struct {
	key  [32]byte
	html string
}

func newCache(most int) *htmlCache {
	return &htmlCache{most: most, order: list.New(), by: map[[32]byte]*list.Element{}}
}

func (c *htmlCache) getHTML(key [32]byte) (string, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at, ok := c.by[key]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(at)
	return at.Value.(cachedHTML).html, true
}

func (c *htmlCache) putHTML(key [32]byte, html string) {
	if len(html) < leastBytes || len(html) > c.most/4 {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if _, ok := c.by[key]; ok {
		return
	}
	c.by[key] = c.order.PushFront(cachedHTML{key, html})
	c.bytes += len(html)
	for c.bytes > c.most {
		last := c.order.Back()
		old := c.order.Remove(last).(cachedHTML)
		delete(c.by, old.key)
		c.bytes -= len(old.html)
	}
}
