package tooltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// patience is how long one mutant may be read before the test takes it for an endless
// loop: thousands of times what any needs.
const patience = 2 * time.Minute

// testMutants reads the fixture with random changes: whatever stands in the files, reading
// ends, within bounds, and what it gives keeps the contract.
func (v variant) testMutants(t *testing.T) {
	n := v.Mutants
	if n == 0 {
		n = 1500
		if v.Disk {
			n = 150
		}
	}
	n = testlength.Choose(max(n/10, min(n, 20)), max(n/10, min(n, 20)), n)
	for i := range n {
		m, what := v.makeMutant(rand.New(rand.NewPCG(1, uint64(i))))
		if fault := m.tryMutant(t, what); fault != "" {
			t.Errorf("mutant %d, %s: %s", i, what, fault)
			return
		}
	}
}

// tryMutant reads a mutant, and says what is wrong with it.
func (v variant) tryMutant(t *testing.T, what string) (fault string) {
	p, done := v.openPlace(t)
	defer done()
	watch := time.AfterFunc(patience, func() { panic("an endless loop: " + what) })
	defer watch.Stop()
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Sprintf("a panic: %v\n%s", r, debug.Stack())
		}
	}()
	for _, live := range []bool{false, true} {
		before := allocatedBytes()
		r := v.readPlace(p, live)
		if used, bound := allocatedBytes()-before, uint64(64<<20+400*v.totalBytes()); used > bound {
			return fmt.Sprintf("%d bytes were allocated for files of %d", used, v.totalBytes())
		}
		if all := listFaults(r); len(all) > 0 {
			return fmt.Sprintf("live %v: %q", live, all)
		}
	}
	return ""
}

// allocatedBytes returns how many bytes the program has ever allocated.
func allocatedBytes() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// makeMutant returns the fixture with one to three changes.
func (v variant) makeMutant(r *rand.Rand) (variant, string) {
	var what string
	for range 1 + r.IntN(3) {
		names := v.fileNames()
		if len(names) == 0 {
			break
		}
		name := names[r.IntN(len(names))]
		if r.IntN(60) == 0 {
			v = v.withFile(name, nil)
			what += "without " + name + "; "
			continue
		}
		other := v.files[names[r.IntN(len(names))]].Data
		i := r.IntN(len(changes))
		v = v.withFile(name, changes[i].do(r, slices.Clone(v.files[name].Data), other))
		what += changes[i].name + " in " + name + "; "
	}
	return v, what
}

// changes are the ways a file is changed; other is a file of the same fixture.
var changes = []struct {
	name string
	do   func(r *rand.Rand, data, other []byte) []byte
}{
	{"flipped bits", flipBit},
	{"a cut tail", func(r *rand.Rand, data, _ []byte) []byte { return data[:randomPlace(r, data)] }},
	{"a cut head", func(r *rand.Rand, data, _ []byte) []byte { return data[randomPlace(r, data):] }},
	{"swapped lines", swapBytes},
	{"a doubled line", doubleStretch},
	{"a lost line", func(r *rand.Rand, data, _ []byte) []byte {
		lines := bytes.SplitAfter(data, []byte("\n"))
		i := r.IntN(len(lines))
		return bytes.Join(slices.Delete(lines, i, i+1), nil)
	}},
	{"a line of another file", func(r *rand.Rand, data, other []byte) []byte {
		lines := bytes.SplitAfter(data, []byte("\n"))
		more := bytes.SplitAfter(other, []byte("\n"))
		return bytes.Join(slices.Insert(lines, r.IntN(len(lines)+1), more[r.IntN(len(more))]), nil)
	}},
	{"a piece of another file", func(r *rand.Rand, data, other []byte) []byte {
		i := randomPlace(r, data)
		j := randomPlace(r, other)
		return slices.Concat(data[:i], other[j:j+r.IntN(len(other)-j+1)], data[i:])
	}},
	{"another file", func(_ *rand.Rand, _, other []byte) []byte { return other }},
	{"noise", func(r *rand.Rand, data, _ []byte) []byte {
		noise := make([]byte, r.IntN(40))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		return slices.Insert(data, randomPlace(r, data), noise...)
	}},
	{"a large number", changeNumber},
	// what readers know least how to doubt
	{"JSON changed", spliceValue}, {"JSON changed", spliceValue}, {"JSON changed", spliceValue},
	{"JSON of one text", sameTexts}, {"JSON of one text", sameTexts},
}

func randomPlace(r *rand.Rand, data []byte) int { return r.IntN(len(data) + 1) }

func flipBit(r *rand.Rand, data, _ []byte) []byte {
	for range 1 + r.IntN(8) {
		if len(data) > 0 {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	}
	return data
}

func swapBytes(r *rand.Rand, data, _ []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	i := r.IntN(len(lines))
	j := r.IntN(len(lines))
	lines[i], lines[j] = lines[j], lines[i]
	return bytes.Join(lines, nil)
}

func doubleStretch(r *rand.Rand, data, _ []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	return bytes.Join(slices.Insert(lines, r.IntN(len(lines)+1), lines[r.IntN(len(lines))]), nil)
}

// numbers are those that overflow, or are out of range.
var numbers = []string{"1e308", "-1", "99999999999999999999999", "9223372036854775807", "-9223372036854775808",
	"0.1e-9", "1e999", "4294967296"}

func changeNumber(r *rand.Rand, data, _ []byte) []byte {
	from := randomPlace(r, data)
	i := bytes.IndexAny(data[from:], "0123456789")
	if i < 0 {
		return data
	}
	start := from + i
	end := start
	for end < len(data) && data[end] >= '0' && data[end] <= '9' {
		end++
	}
	return slices.Concat(data[:start], []byte(numbers[r.IntN(len(numbers))]), data[end:])
}
