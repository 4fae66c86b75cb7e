package bundle

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGuideToLimits: the guide's table of limits is that of the code.
func TestGuideToLimits(t *testing.T) {
	guide, err := os.ReadFile("../docs/guides/bundles.md")
	if err != nil {
		t.Fatal(err)
	}
	l := DefaultLimits()
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	want := "| limit | |\n|---|---|\n" +
		"| entries | " + thousands(l.Entries) + " |\n" +
		"| branches, segments, receipts and artifacts together | " + thousands(l.Records) + " |\n" +
		"| children of all roll-ups together | " + thousands(l.Records) + " |\n" +
		"| ancestors | " + thousands(maxAncestors) + " |\n" +
		fmt.Sprintf("| `conversation.json` | %d MiB |\n", maxConversation>>20) +
		fmt.Sprintf("| an artifact | %d GiB |\n", l.Entry>>30) +
		fmt.Sprintf("| any other entry | %d MiB |\n", l.Text>>20) +
		fmt.Sprintf("| all entries | %d GiB |\n", l.Bytes>>30) +
		fmt.Sprintf("| unpacked bytes | %d for each byte of the file, plus %d MiB |\n", l.Ratio, l.RatioFrom>>20)
	if !strings.Contains(string(guide), want) {
		t.Errorf("the guide does not have\n%s", want)
	}
}
