package reference

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGuideToLimits: the guide's table of the limits of one prompt is that of the code.
func TestGuideToLimits(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guides/references.md")
	if err != nil {
		t.Fatal(err)
	}
	l := MarkLimits{}.withDefaults()
	for _, row := range []string{
		fmt.Sprintf("| a file | %d KiB |", l.FileBytes>>10),
		fmt.Sprintf("| all texts | %d MiB |", l.TotalBytes>>20),
		fmt.Sprintf("| references, those of Markdown files included | %d |", l.Files),
		fmt.Sprintf("| Markdown in Markdown | %d deep |", l.Depth),
		fmt.Sprintf("| a folder | %d,%03d entries |", l.Entries/1000, l.Entries%1000),
		fmt.Sprintf("| images | %d, and %d MiB together |", l.Images, l.ImagesSum>>20),
		fmt.Sprintf("| an image | %d MiB |", l.ImageBytes>>20),
		fmt.Sprintf("Lines are looked for in the first %d MiB of a file", maxSkip>>20),
	} {
		if !strings.Contains(string(guide), row) {
			t.Errorf("the guide does not say %q", row)
		}
	}
}
