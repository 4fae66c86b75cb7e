package kept

import (
	"os"
	"strings"
	"testing"
)

func TestDevDump(t *testing.T) {
	raw, _ := os.ReadFile("../../bench/recall/texts/kept-dev.tsv")
	n, bad := map[string]int{}, map[string]int{}
	for l := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimRight(l, "\n"), "\t")
		if len(f) != 4 || l[0] == '#' {
			continue
		}
		k, c, s := f[0], f[2], f[3]
		ok := true
		extra := ""
		switch k {
		case "done", "notdone":
			ok = Closes("user", s, c) == (k == "done")
		case "withdraw", "keepboth":
			ok = Replaces(s, c) == (k == "withdraw")
		default:
			found := Find("user", s, c)
			if k == "talk" {
				ok = len(found) == 0
			} else {
				ok = len(found) > 0
			}
			for _, x := range found {
				extra += string(x.Kind) + " "
			}
			if !ok || k == "talk" {
				if g := grammarOf(s); g != nil {
					extra += g.find("trait", g.read(foldText(s, g.dense)))
				}
			}
		}
		n[k]++
		if !ok {
			bad[k]++
			t.Log(k, "|", c, "|", s, "|", extra)
		}
	}
	t.Log(n, bad)
}
