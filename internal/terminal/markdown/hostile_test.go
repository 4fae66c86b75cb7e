package markdown

import (
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/guarded"
	"github.com/scrollback-ai/scrollback/internal/highlight"
)

var hostile = []string{
	"[", "![", "*a ", "**a_ ", "_a*", "`", "<", "<!--", "](", "[a](", "> ", ">", "- ", "$", "$$", "|", "|-", "&", "&#",
	"\\",
	"~~a ", "~", "[^a]", "[a]: <b>\n", "[a]", "[a][", "a\n=\n", "\t", "<a ", "$\\frac{", "http://a.", "<http://a", "`` ` ",
	"* * ",
	"1. ", "- [ ] ", "|a|b|\n|-|-|\n", "a\n", "- a\n", "\n", "a|", "</", "<?", "<![CDATA[", "*", "**", "***a", "_", "!",
	"\u200b",
	"\\(", "```\n", "~~~", "#", "# ",
}

// TestHardTextsAreShownInTime gives the reader what makes readers of Markdown quadratic: nobody
// waits much longer than was said, and what is too long to be read is shown in time too.
func TestHardTextsAreShownInTime(t *testing.T) {
	show := func(unit string, size int) {
		source := strings.Repeat(unit, size/len(unit))
		began := time.Now()
		Look{Width: 80, Color: true}.renderBounded(source, highlight.NewBudget(highlight.TextTime),
			guarded.New(1, 50*time.Millisecond))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%d of %q took %v", size, unit, took)
		}
	}
	for _, unit := range hostile {
		show(unit, 10_000)
	}
	for _, unit := range []string{"a", "a ", "字", "\u200b", "\u0301", "\n", "\t"} {
		show(unit, 2*maxBytes)
	}
}

// What is not read as Markdown stands there as it was written.
func TestUnreadIsPlain(t *testing.T) {
	deep := strings.Repeat(">", 500) + " deep"
	long := "# long\n\n" + strings.Repeat("**word** ", maxBytes/8)
	for _, source := range []string{deep, long} {
		rows := Look{Width: 80}.RenderRows(source)
		got := strings.Join(strings.Fields(strings.Join(rows, " ")), "")
		if want := strings.Join(strings.Fields(source), ""); got != want {
			t.Errorf("%.30q is shown as %.80q, %d of %d bytes", source, got, len(got), len(want))
		}
	}
	rows := Look{Width: 80}.renderBounded("# head\n\n*said*\n", highlight.NewBudget(0), guarded.New(0, time.Millisecond))
	if got := strings.Join(rows, "|"); got != "# head||*said*" {
		t.Errorf("%q", got)
	}
}
