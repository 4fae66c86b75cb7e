package threading

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/scrollback-ai/scrollback/internal/told"
)

// Hash is the beginning of a SHA-256. The zero value means none.
type Hash [16]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashOf returns the hash of texts; where one ends and the next begins counts.
func HashOf[T string | []byte](texts ...T) Hash {
	h := sha256.New()
	var piece [512]byte
	for _, t := range texts {
		binary.LittleEndian.PutUint64(piece[:], uint64(len(t)))
		_, _ = h.Write(piece[:8]) // a hash takes everything
		for len(t) > 0 {
			n := copy(piece[:], t)
			_, _ = h.Write(piece[:n])
			t = t[n:]
		}
	}
	return Hash(h.Sum(piece[:0])[:len(Hash{})])
}

// add returns the rolling hash behind one more atom.
func (h Hash) add(next Hash) Hash {
	var both [2 * len(h)]byte
	copy(both[:], h[:])
	copy(both[len(h):], next[:])
	sum := sha256.Sum256(both[:])
	return Hash(sum[:len(Hash{})])
}

// Atom is a piece of a history that is compared as one.
type Atom struct {
	Role Role
	Kind Kind
	// Text is the normal form.
	Text string
	// Key is the anchor by content, Call the one by call id or zero.
	Key  Hash
	Call Hash
	// First and Last are the items that it was made of, both included.
	First int
	Last  int

	raw    string // the text as it came
	pieces []piece
}

// piece is a part of an atom that was joined of several.
type piece struct {
	text   string
	item   int
	normal *normalText
}

// normalText is the normal form of an atom that is made of one item, by a table, and its key.
type normalText struct {
	of atomic.Pointer[normalForm]
}

type normalForm struct {
	table *Table
	text  string
	key   Hash
}

// step is what the atom adds to a rolling hash. A client that keeps ids keeps them whatever else it rewrites.
func (a Atom) step() Hash {
	if a.Call != (Hash{}) {
		return a.Call
	}
	return a.Key
}

// equals reports whether a stored atom is this one.
func (a Atom) equals(row AtomRow) bool {
	if a.Role != row.Role || a.Kind != row.Kind {
		return false
	}
	if a.Call != (Hash{}) && row.Call != (Hash{}) {
		return a.Call == row.Call
	}
	return a.Key == row.Key
}

// SaysSame reports whether two atoms are the same one: by the ids of their calls if both have one, else by what they
// say.
func (a Atom) SaysSame(b Atom) bool {
	return a.equals(AtomRow{Role: b.Role, Kind: b.Kind, Call: b.Call, Key: b.Key})
}

// TakeApart returns what items say, without their context.
func (t *Table) TakeApart(items []Item) []Atom { return t.takeApart(nil, items).atoms }

// history is a request or an answer, taken apart.
type history struct {
	atoms   []Atom
	context []string
	// rolling has the rolling hash of the atoms up to each.
	rolling []Hash
}

// takeApart returns the atoms and the context of items. The instructions of the request are context.
func (t *Table) takeApart(system []string, items []Item) history {
	h := history{context: slices.Clone(system), atoms: make([]Atom, 0, len(items))}
	apart := true // whether something stands before the item that no text is joined across
	for i, it := range items {
		text := it.Text
		switch {
		case it.Kind == Thinking:
			continue
		case it.Role == System, it.Role != Assistant && it.Kind == Text && t.isContext(text):
			h.context = append(h.context, text)
			apart = true
			continue
		case it.Kind == Text && it.Role == Assistant && !apart && h.endsWithAnswer():
			last := &h.atoms[len(h.atoms)-1]
			last.pieces = append(last.pieces, piece{text, i, it.normal})
			continue
		case it.Kind == Text && t.isEmpty(text):
			continue
		case it.Kind == Call:
			text = it.Name + " " + text
		}
		a := Atom{Role: it.Role, Kind: it.Kind, pieces: []piece{{text, i, it.normal}}}
		if it.ID != "" && (it.Kind == Call || it.Kind == Result) {
			a.Call = HashOf("call", string(it.Kind), it.ID)
		}
		h.atoms = append(h.atoms, a)
		apart = false
	}
	for i, a := range h.atoms {
		h.atoms[i] = t.join(a, a.pieces)
	}
	h.roll()
	return h
}

// join returns an atom as it is if it is joined of some of its pieces.
func (t *Table) join(a Atom, pieces []piece) Atom {
	a.pieces = pieces
	a.raw = pieces[0].text
	if len(pieces) > 1 {
		var text strings.Builder
		for _, p := range pieces {
			text.WriteString(p.text)
		}
		a.raw = text.String()
	}
	a.Text, a.Key = t.normalForm(&a)
	a.First = pieces[0].item
	a.Last = pieces[len(pieces)-1].item
	return a
}

// normalForm returns the normal form of an atom's text, and its key.
func (t *Table) normalForm(a *Atom) (string, Hash) {
	memo := a.pieces[0].normal
	if len(a.pieces) > 1 {
		memo = nil
	}
	if memo != nil {
		if known := memo.of.Load(); known != nil && known.table == t {
			return known.text, known.key
		}
	}
	text := a.raw
	if a.Kind == Text || a.Kind == Result {
		text = t.normal(text)
	}
	key := HashOf("content", string(a.Role), string(a.Kind), text)
	if memo != nil {
		memo.of.Store(&normalForm{t, text, key})
	}
	return text, key
}

// roll computes the rolling hashes.
func (h *history) roll() {
	var rolled Hash
	h.rolling = make([]Hash, len(h.atoms))
	for i, a := range h.atoms {
		rolled = rolled.add(a.step())
		h.rolling[i] = rolled
	}
}

// endsWithAnswer reports whether the newest atom is text of the assistant.
func (h history) endsWithAnswer() bool {
	n := len(h.atoms)
	return n > 0 && h.atoms[n-1].Role == Assistant && h.atoms[n-1].Kind == Text
}

// said reports whether the model or a tool said one of the atoms.
func said(atoms []Atom) bool {
	return slices.ContainsFunc(atoms, func(a Atom) bool { return a.Role == Assistant || a.Role == Tool })
}

// normal returns a text in its normal form: composed, without the reminders that clients put into texts and without
// what this program's hooks told them, and with every run of white space as one blank.
func (t *Table) normal(text string) string {
	if told.Has(text) {
		text = told.Without(text)
	}
	for _, tag := range t.inside {
		text = cutBlocks(text, "<"+tag+">", "</"+tag+">")
	}
	if isPlain(text) {
		return text
	}
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	return strings.Join(strings.Fields(text), " ")
}

// isPlain reports whether a text is ASCII, with single blanks between its words and no other white space: it is in its
// normal form then.
func isPlain(text string) bool {
	blank := true
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || c < ' ' || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return text == "" || !blank
}

// isEmpty reports whether the normal form of a text is empty.
func (t *Table) isEmpty(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text[0] == '<' && t.normal(text) == ""
}

// cutBlocks takes every block out of a text that begins with one mark and ends with the next other one.
func cutBlocks(text, begin, end string) string {
	if !strings.Contains(text, begin) {
		return text
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, begin)
		if !found {
			break
		}
		_, after, closed := strings.Cut(rest, end)
		if !closed {
			break
		}
		out.WriteString(before)
		text = after
	}
	out.WriteString(text)
	return out.String()
}

// quoteRunes is how many letters and digits an answer has at least that is looked for in a transcript, and how many
// of them are its anchor.
const quoteRunes = 10

// quotable is what of a text is compared with a transcript that may quote it: its letters and digits, in lower case.
type quotable struct {
	runes []rune
	// starts are the runes before which a word begins, and every rune of a script without blanks.
	starts []int
}

func newQuotable(text string) quotable {
	q := quotable{runes: make([]rune, 0, len(text))}
	inside := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			inside = false
			continue
		}
		if !inside || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			q.starts = append(q.starts, len(q.runes))
		}
		q.runes = append(q.runes, unicode.ToLower(r))
		inside = true
	}
	return q
}

// anchor returns the anchor of what begins at a rune, or zero if too little follows.
func (q quotable) anchor(at int) Hash {
	if len(q.runes)-at < quoteRunes {
		return Hash{}
	}
	return HashOf("quote", string(q.runes[at:at+quoteRunes]))
}

// has reports whether a whole answer stands at a rune.
func (q quotable) has(at int, quote Quote) bool {
	end := at + quote.Runes
	return end <= len(q.runes) && HashOf("whole", string(q.runes[at:end])) == quote.Whole
}

// Quote is how an answer is found where a transcript quotes it. The zero value is that of an atom that is not.
type Quote struct {
	Anchor Hash // of its beginning
	Whole  Hash // of all its letters and digits
	Runes  int  // how many those are
}

func newQuote(a Atom) Quote {
	if a.Role != Assistant || a.Kind != Text || utf8.RuneCountInString(a.Text) < quoteRunes {
		return Quote{}
	}
	q := newQuotable(a.Text)
	anchor := q.anchor(0)
	if anchor == (Hash{}) {
		return Quote{}
	}
	return Quote{Anchor: anchor, Whole: HashOf("whole", string(q.runes)), Runes: len(q.runes)}
}
