package title

import (
	"strings"
	"testing"
)

func TestCopy(t *testing.T) {
	for _, c := range [][3]string{{CopyOf, "Tides", "copy of Tides"}, {CopyOf, "copy of Tides", "copy of Tides"},
		{CopyOf, "", ""},
		{CopyOfChinese, "潮汐", "潮汐的副本"}, {CopyOfChinese, "copy of 100%s", "100%s的副本"}, {CopyOf, "潮汐的副本", "copy of 潮汐"}} {
		if got := CopyTitle(c[0], c[1]); got != c[2] {
			t.Errorf("a copy of %q is called %q, want %q", c[1], got, c[2])
		}
	}
	if got := []rune(CopyTitle(CopyOfChinese, strings.Repeat("题", 500))); len(got) > 490 {
		t.Errorf("a title of %d characters", len(got))
	}
}
