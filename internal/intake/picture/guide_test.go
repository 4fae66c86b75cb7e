package picture

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGuideToLimits: the guide's table of what is done with images has the limits of the code.
func TestGuideToLimits(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guides/conversations.md")
	if err != nil {
		t.Fatal(err)
	}
	l := New(ImageLimits{}).limits
	side := fmt.Sprintf("%d,%03d", l.Side/1000, l.Side%1000)
	for _, row := range []string{
		"| longer side over " + side + " pixels | scaled down to " + side + ":",
		fmt.Sprintf("| over %.2f MiB (", float64(l.Bytes)/(1<<20)),
		fmt.Sprintf("| over %d million pixels, by what any header claims, or %d MiB to decode | refused;", l.Pixels/1_000_000,
			l.Memory>>20),
	} {
		if !strings.Contains(string(guide), row) {
			t.Errorf("the guide does not say %q", row)
		}
	}
}
