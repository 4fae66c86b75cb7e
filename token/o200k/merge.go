package o200k

// scanned is how many bytes a piece has at most whose next merge is looked for among all
// parts: of so few, that takes less time than keeping them in order.
const scanned = 128

// merge is how many tokens are left of a piece when no two neighbours make a token.
func (c *Counter) merge(piece string) int {
	if len(piece) <= scanned {
		return c.vocabulary.scan(piece)
	}
	m, _ := c.scratch.Get().(*merging)
	defer c.scratch.Put(m)
	return m.count(c.vocabulary, piece)
}

// scan is merge for short pieces.
func (v *vocabulary) scan(piece string) int {
	var begins [scanned + 1]uint8 // of the parts, and the end of the last
	var ranks [scanned + 1]uint32 // of each part with the one behind it
	n := len(piece)               // parts that are left
	for i := range n {
		begins[i] = uint8(i)
		ranks[i] = none
		if i+1 < n {
			ranks[i] = v.pairs[int(piece[i])<<8|int(piece[i+1])]
		}
	}
	begins[n] = uint8(n)
	for n > 1 {
		least := uint32(none)
		at := 0
		for i, rank := range ranks[:n-1] {
			if rank < least {
				least = rank
				at = i
			}
		}
		if least == none {
			break
		}
		copy(begins[at+1:n], begins[at+2:n+1])
		copy(ranks[at+1:n-1], ranks[at+2:n])
		n--
		if ranks[at] = none; at+1 < n {
			ranks[at] = v.merged(piece[begins[at]:begins[at+2]])
		}
		if at > 0 {
			ranks[at-1] = v.merged(piece[begins[at-1]:begins[at+1]])
		}
	}
	return n
}

// merging is the memory of one merge of a long piece.
type merging struct {
	parts []part
	next  []candidate // a heap
}

// part is what begins at its index; it ends where the next one begins.
type part struct {
	before, behind int32
	rank           uint32 // with the one behind it; none also if it was merged into the one before
}

// candidate is a merge that may be next: its rank, then where its first part begins.
type candidate uint64

func (m *merging) count(v *vocabulary, piece string) int {
	n := int32(len(piece))
	m.parts = m.parts[:0]
	m.next = m.next[:0]
	for i := range n {
		p := part{before: i - 1, behind: i + 1, rank: none}
		if i+1 < n {
			p.rank = v.pairs[int(piece[i])<<8|int(piece[i+1])]
		}
		m.parts = append(m.parts, p)
		if p.rank != none {
			m.next = append(m.next, candidate(p.rank)<<32|candidate(i))
		}
	}
	for i := len(m.next)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	left := int(n)
	again := func(i int32) {
		p := &m.parts[i]
		p.rank = none
		if p.behind == n {
			return
		}
		if p.rank = v.merged(piece[i:m.parts[p.behind].behind]); p.rank != none {
			m.push(candidate(p.rank)<<32 | candidate(i))
		}
	}
	for len(m.next) > 0 {
		top := m.pop()
		i := int32(uint32(top))
		p := &m.parts[i]
		if p.rank != uint32(top>>32) {
			continue // one of its neighbours was merged meanwhile
		}
		gone := p.behind
		m.parts[gone].rank = none
		if p.behind = m.parts[gone].behind; p.behind < n {
			m.parts[p.behind].before = i
		}
		left--
		again(i)
		if p.before >= 0 {
			again(p.before)
		}
	}
	return left
}

func (m *merging) push(c candidate) {
	m.next = append(m.next, c)
	i := len(m.next) - 1
	for i > 0 && c < m.next[(i-1)/2] {
		m.next[i] = m.next[(i-1)/2]
		i = (i - 1) / 2
	}
	m.next[i] = c
}

func (m *merging) pop() candidate {
	top := m.next[0]
	last := len(m.next) - 1
	m.next[0] = m.next[last]
	m.next = m.next[:last]
	if last > 0 {
		m.sink(0)
	}
	return top
}

// sink moves a candidate down to its place.
func (m *merging) sink(i int) {
	h := m.next
	c := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if c <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = c
}
