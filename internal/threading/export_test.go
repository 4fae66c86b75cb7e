package threading

import (
	"slices"
	"strings"
)

// What the tests look at that nobody else needs.

// End returns where the path of a match ends by now.
func (m *Memory) End(match *Match) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row := m.requests[match.row.ID]; row != nil {
		return row.End
	}
	return match.Base
}

// ID returns the id of a match's request.
func (m *Memory) ID(match *Match) RequestID { return match.row.ID }

// Tip returns where the answer to a match ends by now.
func (m *Memory) Tip(match *Match) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[match.row.ID].Tip
}

// Atoms returns all atoms in the order in which they were stored.
func (m *Memory) Atoms() []AtomRow {
	var out []AtomRow
	for _, row := range m.atoms {
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b AtomRow) int { return int(a.Order - b.Order) })
	return out
}

// Path returns the atoms of a path from its root.
func (m *Memory) Path(place Place) []AtomRow {
	var out []AtomRow
	for m.atoms[place] != nil {
		out = append(out, *m.atoms[place])
		place = m.atoms[place].Parent
	}
	slices.Reverse(out)
	return out
}

// Begins reports whether an atom is the beginning of an interrupted answer on a path.
func (m *Memory) Begins(place Place, a Atom) bool {
	return slices.ContainsFunc(m.Path(place), func(row AtomRow) bool {
		return row.Partial && strings.HasPrefix(row.Text, a.Text)
	})
}

// LookUps returns how often the index was asked.
func (m *Memory) LookUps() int { return m.lookUps }

// Atoms returns the atoms of a request.
func (m *Matcher) Atoms(r *Request) []Atom { return m.Table.takeApart(r.System, r.Items).atoms }
