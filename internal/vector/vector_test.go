package vector_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/vector"
)

// randomVector returns a vector of length 1 at about the given cosine from v, or anywhere if that is nil.
func randomVector(r *rand.Rand, n int, v []float32, cosine float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	x, _ = vector.Normalise(x)
	if v == nil {
		return x
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(cosine)*v[i] + float32(math.Sqrt(1-cosine*cosine))*x[i]
	}
	out, _ = vector.Normalise(out)
	return out
}

// What is packed is as near as it was, and sketches tell the angle, for vectors short, long, sparse and of odd length.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 64, 384, 768, 1000, 1536, 4096} {
		for _, want := range []float64{0.95, 0.7, 0.3, -0.5} {
			a := randomVector(r, n, nil, 0)
			b := randomVector(r, n, a, want)
			exact := 0.0
			for i := range a {
				exact += float64(a[i]) * float64(b[i])
			}
			data, scale := vector.Pack(b)
			if got := vector.Compare(a, data, scale); math.Abs(got-exact) > 0.02 {
				t.Errorf("%d numbers: packed %.3f, was %.3f", n, got, exact)
			}
			x := vector.ParseSketch(vector.Sketch(a))
			y := vector.ParseSketch(vector.Sketch(b))
			got := float64(x.Distance(&y)) / vector.MaxDistance * math.Pi
			if math.Abs(got-math.Acos(exact)) > 0.25 {
				t.Errorf("%d numbers: an angle of %.2f by sketches, was %.2f", n, got, math.Acos(exact))
			}
		}
	}
	one := make([]float32, 256)
	other := make([]float32, 256)
	one[3] = 1
	other[200] = 1
	x := vector.ParseSketch(vector.Sketch(one))
	y := vector.ParseSketch(vector.Sketch(other))
	if d := x.Distance(&y); d < 400 || d > 624 {
		t.Errorf("two vectors that have nothing in common differ in %d of 1024 bits", d)
	}
}

// Values that cannot be a vector are refused, and vectors of different lengths have nothing in common.
func TestNoVector(t *testing.T) {
	for _, v := range [][]float32{nil, {}, {0, 0}, {float32(math.NaN())}, {float32(math.Inf(1)), 1},
		make([]float32, vector.MaxDimension+1)} {
		if _, ok := vector.Normalise(v); ok {
			t.Errorf("%v is a vector", v)
		}
	}
	data, scale := vector.Pack([]float32{1})
	if got := vector.Compare([]float32{1, 0}, data, scale); got != 0 {
		t.Errorf("vectors of different lengths: %v", got)
	}
}

// Of what is stored nothing may change with the program.
func TestSketchStays(t *testing.T) {
	v := make([]float32, 5)
	for i := range v {
		v[i] = float32(i) - 1.5
	}
	s := vector.Sketch(v)
	sum := uint32(2166136261)
	for _, b := range s {
		sum = (sum ^ uint32(b)) * 16777619
	}
	if sum != 0x30650f80 {
		t.Errorf("the sketch of a vector has become another: %#x", sum)
	}
}
