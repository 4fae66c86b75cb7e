package o200k

// maxScanned is how many bytes a piece has at most whose next merge is looked for among all
// parts: of so few, that takes less time than keeping them in order.
const maxScanned = 128

// mergePiece returns how many tokens are left of a piece when no two neighbours make a token.
func (c *Counter) mergePiece(piece string) int {
	if len(piece) <= maxScanned {
		return c.vocabulary.mergeShort(piece)
	}
	m, _ := c.scratch.Get().(*mergeState)
	defer c.scratch.Put(m)
	return m.countParts(c.vocabulary, piece)
}

// mergeShort returns merge for short pieces.
func (v *vocabulary) mergeShort(piece string) int {
	var begins [maxScanned + 1]uint8 // of the parts, and the end of the last
	var ranks [maxScanned + 1]uint32 // of each part with the one behind it
	n := len(piece)                  // parts that are left
	for i := range n {
		begins[i] = uint8(i)
		ranks[i] = noRank
		if i+1 < n {
			ranks[i] = v.pairs[int(piece[i])<<8|int(piece[i+1])]
		}
	}
	begins[n] = uint8(n)
	for n > 1 {
		least := uint32(noRank)
		at := 0
		for i, rank := range ranks[:n-1] {
			if rank < least {
				least = rank
				at = i
			}
		}
		if least == noRank {
			break
		}
		copy(begins[at+1:n], begins[at+2:n+1])
		copy(ranks[at+1:n-1], ranks[at+2:n])
		n--
		if ranks[at] = noRank; at+1 < n {
			ranks[at] = v.mergedRank(piece[begins[at]:begins[at+2]])
		}
		if at > 0 {
			ranks[at-1] = v.mergedRank(piece[begins[at-1]:begins[at+1]])
		}
	}
	return n
}

// mergeState is the memory of one merge of a long piece.
type mergeState struct {
	parts []mergePart
	next  []mergeCandidate // a heap
}

// mergePart is what begins at its index; it ends where the next one begins.
type mergePart struct {
	before, behind int32
	rank           uint32 // with the one behind it; none also if it was merged into the one before
}

// mergeCandidate is a merge that may be next: its rank, then where its first part begins.
type mergeCandidate uint64

func (m *mergeState) countParts(v *vocabulary, piece string) int {
	n := int32(len(piece))
	m.parts = m.parts[:0]
	m.next = m.next[:0]
	for i := range n {
		p := mergePart{before: i - 1, behind: i + 1, rank: noRank}
		if i+1 < n {
			p.rank = v.pairs[int(piece[i])<<8|int(piece[i+1])]
		}
		m.parts = append(m.parts, p)
		if p.rank != noRank {
			m.next = append(m.next, mergeCandidate(p.rank)<<32|mergeCandidate(i))
		}
	}
	for i := len(m.next)/2 - 1; i >= 0; i-- {
		m.siftDown(i)
	}
	left := int(n)
	again := func(i int32) {
		p := &m.parts[i]
		p.rank = noRank
		if p.behind == n {
			return
		}
		if p.rank = v.mergedRank(piece[i:m.parts[p.behind].behind]); p.rank != noRank {
			m.pushCandidate(mergeCandidate(p.rank)<<32 | mergeCandidate(i))
		}
	}
	for len(m.next) > 0 {
		top := m.popCandidate()
		i := int32(uint32(top))
		p := &m.parts[i]
		if p.rank != uint32(top>>32) {
			continue // one of its neighbours was merged meanwhile
		}
		gone := p.behind
		m.parts[gone].rank = noRank
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

func (m *mergeState) pushCandidate(c mergeCandidate) {
	m.next = append(m.next, c)
	i := len(m.next) - 1
	for i > 0 && c < m.next[(i-1)/2] {
		m.next[i] = m.next[(i-1)/2]
		i = (i - 1) / 2
	}
	m.next[i] = c
}

func (m *mergeState) popCandidate() mergeCandidate {
	top := m.next[0]
	last := len(m.next) - 1
	m.next[0] = m.next[last]
	m.next = m.next[:last]
	if last > 0 {
		m.siftDown(0)
	}
	return top
}

// siftDown moves a candidate down to its place.
func (m *mergeState) siftDown(i int) {
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
