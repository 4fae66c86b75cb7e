package postings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naive is an index as a map: by term, how often it is at each place.
type naive map[string]map[uint64]uint8

func naively(docs []Document) naive {
	out := naive{}
	for _, d := range docs {
		for _, t := range d.Terms {
			if out[t] == nil {
				out[t] = map[uint64]uint8{}
			}
			if out[t][d.Place] < 255 {
				out[t][d.Place]++
			}
		}
	}
	return out
}

// tester is a test, or one of rapid's.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// held is a segment in memory.
type held struct {
	places *Places
	blocks []Block
}

func build(t tester, docs []Document, size int) held {
	t.Helper()
	var h held
	var err error
	h.places, err = Build(docs, size, h.take)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *held) take(b Block) error {
	h.blocks = append(h.blocks, b)
	return nil
}

// source reads a segment that has been stored and read again.
func (h held) source(t tester, dropped ...Run) Source {
	p, err := ParsePlaces(h.places.Append(nil))
	if err != nil || !reflect.DeepEqual(p, h.places) && p.Len() > 0 {
		t.Fatalf("places became %+v, were %+v: %v", p, h.places, err)
	}
	rest := h.blocks
	return Source{Places: p, Dropped: dropped, Next: func() (Block, error) {
		if len(rest) == 0 {
			return Block{}, io.EOF
		}
		b := rest[0]
		rest = rest[1:]
		return b, nil
	}}
}

// find looks a term up as a store of blocks does.
func (h held) find(t tester, term string) map[uint64]uint8 {
	i := len(h.blocks) - 1
	for i >= 0 && h.blocks[i].Term > term {
		i--
	}
	if i < 0 {
		return nil
	}
	l, err := h.blocks[i].Find(term)
	if err != nil {
		t.Fatalf("%q: %v", term, err)
	}
	if l.Holding == 0 {
		return nil
	}
	first := i
	for l.Part && first > 0 && h.blocks[first-1].Term == term {
		first--
	}
	var ordinals []uint32
	var counts []uint8
	for ; first <= i; first++ {
		one, err := h.blocks[first].Find(term)
		if err != nil {
			t.Fatal(err)
		}
		before := len(ordinals)
		if ordinals, counts, err = one.Decode(ordinals, counts); err != nil {
			t.Fatal(err)
		}
		if one.Part && ordinals[before] != h.blocks[first].Start {
			t.Errorf("a part of %q starts with %d, not %d", term, ordinals[before], h.blocks[first].Start)
		}
	}
	if len(ordinals) != l.Holding {
		t.Errorf("%q: %d documents, said to be %d", term, len(ordinals), l.Holding)
	}
	places, ok := Resolve[uint64](h.places, nil, ordinals)
	if !ok {
		t.Fatalf("%q: %d have no place", term, ordinals)
	}
	out := map[uint64]uint8{}
	for i, p := range places {
		if out[p] = counts[i]; h.places.At(ordinals[i]) != p {
			t.Errorf("ordinal %d is at %d and %d", ordinals[i], h.places.At(ordinals[i]), p)
		}
	}
	return out
}

var word = rapid.OneOf(rapid.SampledFrom([]string{"a", "ab", "abc", "abd", "b", "ba", "the", "档案", "档",
	strings.Repeat("long", 14)}),
	rapid.StringMatching(`[a-d]{1,20}`))

// documents returns some with places that ascend: neighbours, gaps and other lines.
func documents(most int) *rapid.Generator[[]Document] {
	return rapid.Custom(func(t *rapid.T) []Document {
		place := uint64(1) << 32
		var out []Document
		for range rapid.IntRange(0, most).Draw(t, "documents") {
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step < 6:
				place++
			case step < 8:
				place += uint64(step * 7)
			default:
				place = (place>>32+uint64(step))<<32 | uint64(rapid.IntRange(1, 1<<20).Draw(t, "seq"))
			}
			d := Document{Place: place, Terms: rapid.SliceOfN(word, 0, 12).Draw(t, "terms")}
			if rapid.IntRange(0, 30).Draw(t, "flood") == 0 {
				d.Terms = append(d.Terms, strings.Split(strings.Repeat("often ", 300), " ")[:300]...)
			}
			out = append(out, d)
		}
		return out
	})
}

// A segment is the same whether terms are repeated or counted.
func TestCountsStandForRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(40).Draw(t, "docs")
		blocks := func() (all []Block) {
			_, err := Build(docs, 64, func(b Block) error { all = append(all, b); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		want := blocks()
		for i, d := range docs {
			counts := map[string]int32{}
			for _, term := range d.Terms {
				counts[term]++
			}
			docs[i].Terms = slices.Sorted(maps.Keys(counts))
			docs[i].Counts = []int32{}
			for _, term := range docs[i].Terms {
				docs[i].Counts = append(docs[i].Counts, counts[term])
			}
		}
		if got := blocks(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if _, err := Build([]Document{{Terms: []string{"a"}, Counts: []int32{}}}, 64, nil); err == nil {
		t.Error("a term without its count was taken")
	}
}

func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(60).Draw(t, "docs")
		size := rapid.SampledFrom([]int{16, 64, 4096}).Draw(t, "size")
		h := build(t, docs, size)
		want := naively(docs)
		for term, at := range want {
			if got := h.scanned(t, term); !reflect.DeepEqual(got, at) {
				t.Fatalf("%q is at %v, want %v", term, got, at)
			}
		}
		for range 20 {
			if term := word.Draw(t, "other"); want[term] == nil && len(h.scanned(t, term)) != 0 {
				t.Fatalf("%q was found", term)
			}
		}
		seen := 0
		for _, b := range h.blocks {
			err := b.Each(func(term []byte, l List) bool {
				if len(want[string(term)]) != l.Holding {
					t.Fatalf("%q has %d, want %d", term, l.Holding, len(want[string(term)]))
				}
				if !l.Part || b.Start == firstPart(h.blocks, b.Term) {
					seen++
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Data) > max(size, 3*len(b.Term)+128) {
				t.Errorf("a block of %d bytes where %d were allowed", len(b.Data), size)
			}
		}
		if seen != len(want) {
			t.Fatalf("%d terms went by, want %d", seen, len(want))
		}
	})
}

func firstPart(blocks []Block, term string) uint32 {
	return blocks[slices.IndexFunc(blocks, func(b Block) bool { return b.Term == term })].Start
}

// scanned returns what find says, read through all blocks besides.
func (h held) scanned(t *rapid.T, term string) map[uint64]uint8 {
	got := map[uint64]uint8{}
	for _, b := range h.blocks {
		err := b.Each(func(one []byte, l List) bool {
			if string(one) == term {
				ordinals, counts, err := l.Decode(nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, o := range ordinals {
					got[h.places.At(o)] = counts[i]
				}
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if direct := h.find(t, term); len(direct) != len(got) {
		t.Fatalf("%q: looked up %v, read through %v", term, direct, got)
	}
	return got
}

// Documents in parts that are joined, some of them left out, are encoded as the rest of them at once.
func TestMergeIsAsBuiltAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(80).Draw(t, "docs")
		size := rapid.SampledFrom([]int{16, 64, 4096}).Draw(t, "size")
		var dropped []Run
		for i := 0; i+2 < len(docs); i += 3 + rapid.IntRange(0, 20).Draw(t, "gap") {
			if docs[i].Place>>32 == docs[i+2].Place>>32 {
				dropped = append(dropped, Run{docs[i].Place, docs[i+1].Place})
			}
		}
		parts := make([][]Document, 1+rapid.IntRange(0, 4).Draw(t, "parts"))
		var left []Document
		for _, d := range docs {
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
			parts[i] = append(parts[i], d)
			if !slices.ContainsFunc(dropped, func(r Run) bool { return r.First <= d.Place && d.Place <= r.Last }) {
				left = append(left, d)
			}
		}
		var sources []Source
		for _, p := range parts {
			sources = append(sources, build(t, p, size).source(t, dropped...))
		}
		j := Join(sources)
		got := held{places: j.Places}
		if err := Merge(sources, j, size, got.take); err != nil {
			t.Fatal(err)
		}
		want := build(t, left, size)
		if !bytes.Equal(got.places.Append(nil), want.places.Append(nil)) || !slices.EqualFunc(got.blocks, want.blocks, same) {
			t.Fatalf("joined %d blocks %+v, at once %d %+v", len(got.blocks), got.blocks, len(want.blocks), want.blocks)
		}
	})
}

func same(a, b Block) bool {
	return a.Term == b.Term && a.Start == b.Start && bytes.Equal(a.Data, b.Data)
}

// A place that two segments have is the later one's.
func TestJoinTakesTheLater(t *testing.T) {
	older := build(t, []Document{{Place: 7, Terms: []string{"old"}}, {Place: 8, Terms: []string{"stays"}}}, 64)
	newer := build(t, []Document{{Place: 7, Terms: []string{"new", "new"}}}, 64)
	sources := []Source{older.source(t), newer.source(t)}
	j := Join(sources)
	got := held{places: j.Places}
	if err := Merge(sources, j, 64, got.take); err != nil {
		t.Fatal(err)
	}
	for term, want := range map[string]map[uint64]uint8{"old": nil, "new": {7: 2}, "stays": {8: 1}} {
		if at := got.find(t, term); !reflect.DeepEqual(at, want) {
			t.Errorf("%q is at %v, want %v", term, at, want)
		}
	}
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Places{}
		all := map[uint64]uint32{}
		for _, d := range documents(60).Draw(t, "docs") {
			all[d.Place] = uint32(p.Len())
			p.addPlace(d.Place)
		}
		var runs []Run
		at := uint64(1) << 32
		for range rapid.IntRange(0, 8).Draw(t, "runs") {
			at += rapid.OneOf(rapid.Uint64Range(1, 30), rapid.Uint64Range(1<<32, 9<<32)).Draw(t, "gap")
			r := Run{at, at + rapid.Uint64Range(0, 40).Draw(t, "length")}
			runs = append(runs, r)
			at = r.Last
		}
		in := map[uint32]bool{}
		for _, s := range p.Spans(runs) {
			for o := s.From; o < s.To; o++ {
				in[o] = true
			}
		}
		for place, o := range all {
			within := slices.ContainsFunc(runs, func(r Run) bool { return r.First <= place && place <= r.Last })
			if within != in[o] {
				t.Fatalf("place %d in %v: %v", place, runs, in[o])
			}
			if got, ok := p.Find(place); !ok || got != o {
				t.Fatalf("place %d has ordinal %d, found %d %v", place, o, got, ok)
			}
			if _, ok := all[place+1]; !ok {
				if got, ok := p.Find(place + 1); ok || got != o+1 {
					t.Fatalf("beside place %d: %d %v, want %d", place, got, ok, o+1)
				}
			}
		}
	})
}

func TestMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Mark {
			return Mark{rapid.SampledFrom([]string{"user", "assistant", ""}).Draw(t, "kind"), rapid.Int64().Draw(t, "time"),
				rapid.IntRange(0, 20000).Draw(t, "length")}
		}), 0, 50).Draw(t, "marks")
		m, err := ParseMarks(AppendMarks(nil, want))
		if err != nil || m.Len() != len(want) {
			t.Fatalf("%d became %d: %v", len(want), m.Len(), err)
		}
		if got, err := m.Append(nil); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v became %+v: %v", want, got, err)
		}
		for i := range want {
			if got, err := m.At(i); err != nil || got != want[i] {
				t.Fatalf("the one at %d of %+v became %+v: %v", i, want, got, err)
			}
		}
		if _, err := m.At(len(want)); err == nil {
			t.Fatal("there is one behind the last")
		}
	})
}

// sample are documents of a vocabulary in which few words are frequent and most are rare.
func sample(n int) []Document {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 4, 50000)
	docs := make([]Document, n)
	for i := range docs {
		docs[i].Place = uint64(1+i/500)<<32 + uint64(i%500+1)
		for range 90 {
			docs[i].Terms = append(docs[i].Terms, fmt.Sprintf("w%x", z.Uint64()*2654435761%1000003))
		}
	}
	return docs
}

// Bytes that were changed anywhere are an error, or other lists; never a panic.
func FuzzDecode(f *testing.F) {
	var h held
	var err error
	if h.places, err = Build(sample(60), 512, h.take); err != nil {
		f.Fatal(err)
	}
	for _, b := range h.blocks[:min(8, len(h.blocks))] {
		f.Add(b.Term, b.Start, b.Data, "w10")
	}
	f.Add("a", uint32(0), h.places.Append(nil), "b")
	f.Add("a", uint32(0), AppendMarks(nil, []Mark{{"user", 5, 6}, {"tool", 4, 6}}), "b")
	f.Fuzz(func(t *testing.T, first string, start uint32, data []byte, term string) {
		b := Block{first, start % MaxDocuments, data}
		l, err := b.Find(term)
		if err == nil && l.Holding > 0 {
			if o, c, err := l.Decode(nil, nil); err == nil && (len(o) != len(c) || len(o) == 0 || !slices.IsSorted(o)) {
				t.Errorf("%d and %d decoded: %v", len(o), len(c), o)
			}
		}
		if err := b.Each(func(_ []byte, l List) bool { _, _, _ = l.Decode(nil, nil); return true }); err != nil &&
			!errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
		if p, err := ParsePlaces(data); err == nil {
			if p.Spans([]Run{{3, 1 << 40}}); p.Len() > 0 {
				p.At(uint32(p.Len() - 1))
				p.Find(p.Bounds().Last)
			}
		}
		if m, err := ParseMarks(data); err == nil && m.Len() > 0 {
			last, errAt := m.At(m.Len() - 1)
			all, err := m.Append(nil)
			if err == nil && (errAt != nil || len(all) != m.Len() || all[len(all)-1] != last) {
				t.Errorf("the last of %d marks is %+v, %v", len(all), last, errAt)
			}
		}
		p := &Places{}
		p.addPlace(1)
		rest := []Block{b, {first + "z", 0, data}}
		one := []Source{{Places: p, Next: func() (Block, error) {
			if len(rest) == 0 {
				return Block{}, io.EOF
			}
			next := rest[0]
			rest = rest[1:]
			return next, nil
		}}}
		_ = Merge(one, Join(one), 64, func(Block) error { return nil })
	})
}

// Blocks that could not be read are no end of them: a segment without these would be kept for good.
func TestMergeOfBlocksThatCannotBeRead(t *testing.T) {
	h := build(t, sample(64), 512)
	for _, wrong := range []error{io.ErrUnexpectedEOF, fmt.Errorf("the connection was closed: %w", io.EOF)} {
		one := h.source(t)
		next := one.Next
		read := 0
		one.Next = func() (Block, error) {
			if read++; read > 1 {
				return Block{}, wrong
			}
			return next()
		}
		if err := Merge([]Source{one}, Join([]Source{one}), 64, func(Block) error { return nil }); !errors.Is(err, wrong) {
			t.Errorf("%v: merged, %v", wrong, err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	docs := sample(64)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := Build(docs, 4096, func(b Block) error { n += len(b.Data); return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/float64(len(docs)), "B/doc")
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(docs)), "µs/doc")
}

func BenchmarkMerge(b *testing.B) {
	docs := sample(8 * 512)
	var parts []held
	for i := range 8 {
		parts = append(parts, build(b, docs[i*512:(i+1)*512], 4096))
	}
	b.ReportAllocs()
	for b.Loop() {
		var sources []Source
		for _, p := range parts {
			sources = append(sources, p.source(b))
		}
		n := 0
		if err := Merge(sources, Join(sources), 4096, func(b Block) error { n += len(b.Data); return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/float64(len(docs)), "B/doc")
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(docs)), "µs/doc")
}

func BenchmarkDecode(b *testing.B) {
	var l encodedList
	for i := range 32768 / 3 {
		l.addDocument(uint32(i*3), 1+i%5/4)
	}
	from := List{Holding: l.holding, data: l.data}
	var o []uint32
	var c []uint8
	for b.Loop() {
		var err error
		if o, c, err = from.Decode(o[:0], c[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(l.holding)/1e3/float64(b.Elapsed().Milliseconds()+1), "kpostings/ms")
}
