package token

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCount(t *testing.T) {
	for s, want := range map[string]int{"": 0, "hello world": 2, "你好": 1, "The quick brown fox": 4} {
		if got := Count(s); got != want {
			t.Errorf("Count(%q) = %d, want %d", s, got, want)
		}
	}
}

// A long text weighs what its pieces weigh: no cliff at any length.
func TestCountHasNoCliff(t *testing.T) {
	line := "The port of the server 服务器的端口 is 7077.\n"
	one := Count(line)
	for _, n := range []int{100, 1000, 5000} {
		got := Count(strings.Repeat(line, n))
		want := one * n
		if got < want*98/100 || got > want*102/100 {
			t.Errorf("%d lines: %d tokens, want about %d", n, got, want)
		}
	}
	if n := Count(strings.Repeat("中", 100_000)); n < 20_000 || n > 110_000 {
		t.Errorf("unbroken Chinese: %d tokens", n)
	}
}

func TestCountGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.String().Draw(t, "a")
		b := rapid.String().Draw(t, "b")
		if whole, sum := Count(a+b), Count(a)+Count(b); whole > sum+1 {
			t.Fatalf("together %d tokens, apart %d", whole, sum)
		}
	})
}

func TestImage(t *testing.T) {
	for _, c := range []struct {
		w, h   int
		detail string
		want   int
	}{{100, 100, "", 255}, {1024, 1024, "", 765}, {4000, 4000, "low", 85}, {0, 0, "", 85 + 170*8},
		{2048, 4096, "", 1105}} {
		if got := ImageTokens(c.w, c.h, c.detail); got != c.want {
			t.Errorf("Image(%d, %d, %q) = %d, want %d", c.w, c.h, c.detail, got, c.want)
		}
	}
}
