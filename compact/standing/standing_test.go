package standing

import (
	"os"
	"strings"
	"testing"
)

func TestDev(t *testing.T) {
	raw, _ := os.ReadFile("../../bench/recall/texts/standing.tsv")
	n := map[string][4]int{}
	for l := range strings.SplitSeq(string(raw), "\n") {
		f := strings.Split(l, "\t")
		if len(f) != 4 || strings.HasPrefix(l, "#") {
			continue
		}
		got, want := Instruction(f[3]), f[0] == "keep"
		for _, k := range []string{f[2] + " all", f[2] + " " + f[1]} {
			c := n[k]
			i := 0
			if got {
				i |= 1
			}
			if want {
				i |= 2
			}
			c[i]++
			n[k] = c
		}
		if got != want && f[2] == os.Getenv("SHOW") {
			t.Logf("%s %s: %s", f[1], f[0], f[3])
		}
	}
	for k, c := range n {
		t.Logf("%s: P %.3f R %.3f  %v", k, float64(c[3])/float64(c[3]+c[1]), float64(c[3])/float64(c[3]+c[2]), c)
	}
}
