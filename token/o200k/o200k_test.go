package o200k

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// pattern is that of o200k_base. The group around it is there because the library comes with
// code generated for the pattern without it, which drops U+007F, and ends white space at the
// first of its newlines that others follow, not at the last.
const pattern = `(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`

// reference is the definition: the pattern, run by an engine for regular expressions, and
// merging that looks for the lowest rank among all pairs each time.
type reference struct {
	library *codec.Codec
	split   *regexp2.Regexp
	ranks   map[string]int
}

var both = sync.OnceValues(func() (*Counter, *reference) {
	r := &reference{library: codec.NewO200kBase(), split: regexp2.MustCompile(pattern, regexp2.None),
		ranks: map[string]int{}}
	for rank := range tokens {
		r.ranks[decode(r.library, rank)] = rank
	}
	return New(), r
})

func decode(library *codec.Codec, rank int) string {
	s, err := library.Decode([]uint{uint(rank)})
	if err != nil {
		panic(err) // the library has another vocabulary
	}
	return s
}

func (r *reference) pieces(t *testing.T, s string) (out []string) {
	m, err := r.split.FindStringMatch(s)
	for ; err == nil && m != nil; m, err = r.split.FindNextMatch(m) {
		out = append(out, m.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *reference) tokens(piece string) int {
	if _, whole := r.ranks[piece]; whole {
		return 1
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		least := len(r.ranks)
		at := -1
		for i := range len(parts) - 1 {
			if rank, ok := r.ranks[parts[i]+parts[i+1]]; ok && rank < least {
				least = rank
				at = i
			}
		}
		if at < 0 {
			return len(parts)
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
}

// differs finds what the library's generated code splits otherwise than its pattern says.
var differs = regexp.MustCompile(`\x7f|[\r\n][\t\v\f\x{85}\pZ]+[\r\n]`)

// compare fails unless a text has as many tokens as the definition says, and the library
// where that keeps to it. Each text is counted three times: from the third on, what is
// remembered is used.
func compare(t *testing.T, s string) {
	t.Helper()
	own, other := both()
	want := 0
	split := other.pieces(t, s)
	if own := pieces(own, s); !slices.Equal(own, split) {
		t.Fatalf("%q is split into %q, by the pattern into %q", s, own, split)
	}
	for _, p := range split {
		want += other.tokens(p)
	}
	if !differs.MatchString(s) {
		if n, err := other.library.Count(s); err != nil || n != want {
			t.Fatalf("%q has %d tokens, %d by the library (%v)", s, want, n, err)
		}
	}
	for range 3 {
		if got := own.Count(s); got != want {
			t.Fatalf("%q has %d tokens, not %d: its pieces are %q", s, want, got, split)
		}
	}
}

func pieces(c *Counter, s string) (out []string) {
	for s = string([]rune(s)); s != ""; {
		end := c.classes.pieceLength(s)
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// seeds reach every branch of the splitter, and both ways of merging.
var seeds = []string{"", "a", "é", "\xff", "hello world", "你好，世界", "The quick brown fox",
	// words and what stands before them
	"camelCase HTTPServer ABC ABCd aB ǅa ʰx", " ABC (abc \tabc \u00a0abc\u3000abc",
	"中文abc中文ABC中文", "中ABC", "A中BCd",
	"e\u0301a E\u0301A \u0301abc \u0301ABC \u0301 \u0301\u0301A!\u0301A!!\u0301a", " \u0301 a\u0301\u0301b",
	// contractions
	"it's IT'S it'S I'm we'll WE'LL we'Ll they've they'RE he'd 't 'ſ it'ſ it'l it'r it'v it'x it' it'", "it'll it'l",
	"中's \u0301's ABC's1",
	// numbers
	"1 12 123 1234 12345678 ½² Ⅷ ٣٤٥٦ a1b2 1a", "१२३४",
	// symbols, newlines and slashes behind them
	"!! !a !!a ! a //\n/x !\n\n!\r\n// \n/a  !a", " !", " !\n", "…— “quoted”\n", "😀😀 😀", "\u0000\u0001a",
	"\u200d\ufe0f!\ufe0f",
	// white space
	" ", "  ", "   a", "a   ", "a  b", "\n", "\n\n a", " \n ", " \n  a", "\r\n\r\n", "\t\ta", "\t\t1",
	"  1", " 1", "a \n", "\n \n", "\n \n  \n\r x", "\u00a0\u00a0!", "\u00a0!", "\u2028a\u2028\n\u2028b", "\u0085a\v\f",
	// not UTF-8
	"a\xffb", "\xe4\xbd", "\xe4\xbd\xa0\xe4", "\xed\xa0\x80", "a\xc5", "a'\xc5", "a'\xe5\xbf",
	// long pieces
	strings.Repeat("x9Qz", 50),
	strings.Repeat("中文没有空格", 40), strings.Repeat("abcdefghij", 40), strings.Repeat(" ", 300),
	strings.Repeat("=", 300),
	strings.Repeat("A", 127), strings.Repeat("Z", 128), strings.Repeat("q", 129), strings.Repeat("\n", 200),
	strings.Repeat("🙂", 60),
}

var update = flag.Bool("update", false, "write vocabulary.table")

// The vocabulary is the library's.
func TestVocabulary(t *testing.T) {
	library := codec.NewO200kBase()
	all := make([]string, 0, tokens)
	for rank := range tokens {
		all = append(all, decode(library, rank))
	}
	if s, err := library.Decode([]uint{tokens}); err == nil {
		t.Errorf("token %d is %q: there are more", tokens, s)
	}
	want := buildTable(t, all)
	if *update {
		if err := os.WriteFile("vocabulary.table", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != string(want) {
		t.Fatal("vocabulary.table is not the library's vocabulary; " +
			"go test ./token/o200k -run TestVocabulary -update writes it")
	}
	v := newVocabulary()
	last := -1
	for _, token := range all {
		rank := v.findRank(token, hashText(token))
		if rank == noRank || int(rank) <= last {
			t.Fatalf("%q has rank %d, behind %d", token, rank, last)
		}
		if len(token) == 2 && v.mergedRank(token) != rank {
			t.Fatalf("%q has rank %d among the pairs, not %d", token, v.mergedRank(token), rank)
		}
		last = int(rank)
	}
}

// buildTable makes the table of a vocabulary: of the buckets with the most tokens first, it takes the first
// displacement with which all find a slot that is free.
func buildTable(t *testing.T, all []string) []byte {
	t.Helper()
	buckets := make([][]uint32, 1<<bucketBits)
	hashes := map[uint32]uint64{}
	var texts, twos []byte
	for _, token := range all {
		if len(token) > longestToken {
			t.Fatalf("%q is too long for a token", token)
		}
		place := uint32(len(texts))
		h := hashText(token)
		hashes[place] = h
		buckets[h&(1<<bucketBits-1)] = append(buckets[h&(1<<bucketBits-1)], place)
		if len(token) == 2 {
			twos = binary.LittleEndian.AppendUint32(twos, place)
		}
		texts = append(append(texts, byte(len(token))), token...)
	}
	order := make([]int, len(buckets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(buckets[b]) - len(buckets[a]) })
	displacements := make([]byte, 2<<bucketBits)
	slots := make([]uint32, slotCount)
	for _, bucket := range order {
		places := buckets[bucket]
		var taken []int
		for displacement := uint16(0); len(taken) < len(places); displacement++ {
			taken = taken[:0]
			for _, place := range places {
				slot := slotOf(hashes[place], displacement)
				if slots[slot] != 0 || slices.Contains(taken, slot) {
					break
				}
				taken = append(taken, slot)
			}
			binary.LittleEndian.PutUint16(displacements[2*bucket:], displacement)
			if displacement == math.MaxUint16 && len(taken) < len(places) {
				t.Fatalf("bucket %d finds no slots", bucket)
			}
		}
		for i, place := range places {
			slots[taken[i]] = slotMark(hashes[place]) | (place + 1)
		}
	}
	out := displacements
	for _, slot := range slots {
		out = binary.LittleEndian.AppendUint32(out, slot)
	}
	return append(append(out, twos...), texts...)
}

func TestCount(t *testing.T) {
	for _, s := range seeds {
		compare(t, s)
	}
}

// Each character counts as the definition says, alone and beside characters of every class.
func TestCountOfEveryCharacter(t *testing.T) {
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C}
	large := []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Co, unicode.Tangut, unicode.Nushu,
		unicode.Egyptian_Hieroglyphs, unicode.Cuneiform}
	step := testlength.Choose[rune](101, 29, 1)
	for r, n := rune(0), rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, assigned...) && r%61 != 0 || unicode.In(r, large...) && r%97 != 0 {
			continue // one of many that are alike; TestClasses takes all
		}
		if n++; r > 0xff && n%step != 0 {
			continue
		}
		c := string(r)
		compare(t, c)
		compare(t, strings.Join([]string{"", "a", "B", "中", "\u0301", "7", "!", " ", "\n", "a's", "", ""}, c))
	}
}

// The table of classes is what the library's categories say, of every code point.
func TestClasses(t *testing.T) {
	c := buildClasses()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := symbol
		switch {
		case r == '\r' || r == '\n':
			want = newline
		case unicode.IsSpace(r):
			want = space
		case unicode.In(r, unicode.Lu, unicode.Lt):
			want = upper
		case unicode.Is(unicode.Ll, r):
			want = lower
		case unicode.IsLetter(r):
			want = either
		case unicode.IsMark(r):
			want = mark
		case unicode.IsNumber(r):
			want = number
		}
		if s := string(r); utf8.ValidRune(r) {
			if got, n := c.classAt(s, 0); got != want || n != len(s) {
				t.Fatalf("%U is of class %d and %d bytes long, not %d and %d", r, got, n, want, len(s))
			}
		}
	}
}

// Random texts of a few characters of each class meet in every order.
func TestCountOfRandomTexts(t *testing.T) {
	alphabet := []rune("aefgslLvVmMdDtTrRxzABCÉéǅʰªſ中文字あア한א\u0301\u0300\u0903１12३½Ⅷ " +
		"\u00a0\t\n\r\u2028\u3000!'/\"(_-.…，。😀\u200d\ufe0f\x00\ufffd")
	rng := rand.New(rand.NewPCG(16, 200))
	for range testlength.Choose(2000, 10_000, 200_000) {
		var s strings.Builder
		for range 1 + rng.IntN(24) {
			if rng.IntN(60) == 0 {
				s.WriteByte(byte(rng.IntN(256)))
			}
			s.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		compare(t, s.String())
	}
}

// What people and programs write counts as the library counts it: this project's own files,
// and sampled conversations.
func TestCountOfRealTexts(t *testing.T) {
	root := filepath.Join("..", "..")
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "*/*.go", "*/testdata/*", "*/*/testdata/*",
		"*/*/testdata/*/*"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	read := 0
	every := testlength.Choose(20, 5, 1)
	for i, name := range all {
		if i%every != 0 {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) > 1<<20 {
			continue // a folder, or not a text
		}
		read++
		compare(t, string(b))
	}
	if read < 20 {
		t.Errorf("%d files were read", read)
	}
	messages, _ := sample.MakeSample(sample.Options{Seed: 16, Messages: 400})
	for _, m := range messages {
		for _, p := range m.Content {
			s, _ := p["text"].(string)
			compare(t, s)
		}
	}
}

// A piece that is longer than what is merged at once counts as its parts.
func TestCountOfUnbrokenText(t *testing.T) {
	own, other := both()
	for _, unit := range []string{"x", "中", "Qz", "\u0301"} {
		s := strings.Repeat(unit, (3*longestPiece+1000)/len(unit))
		want, err := other.library.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := own.Count(s); got < want || got > want+8 {
			t.Errorf("%q, repeated, has %d tokens, %d by the library", unit, got, want)
		}
	}
}

// Many count at once, and each gets what it would get alone.
func TestCountAtOnce(t *testing.T) {
	own, _ := both()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 200 {
				s := seeds[(i*7+w)%len(seeds)]
				if a, b := own.Count(s), own.Count(s); a != b {
					t.Errorf("%q has %d tokens, then %d", s, a, b)
				}
			}
		})
	}
	all.Wait()
}

// Counting again what was counted before takes no memory.
func TestCountAllocatesNothing(t *testing.T) {
	own, _ := both()
	s := "antidisestablishmentarianism x9QzP7kk 这片中文没有空格 e\u0301e\u0301e\u0301 === !?!?;; and the rest"
	own.Count(s)
	if n := testing.AllocsPerRun(20, func() { own.Count(s) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) <= 600 { // the definition takes the square of the longest piece
			compare(t, s)
		}
	})
}
