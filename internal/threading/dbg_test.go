package threading_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDbg(t *testing.T) {
	rs := readRecordings(t)[os.Getenv("DBG")]
	_, outs := replay(t, rs, os.Getenv("HID") != "", nil)
	for _, o := range outs {
		if f := os.Getenv("FLOW"); f != "" && !strings.Contains(o.Flow, f) {
			continue
		}
		fmt.Printf("%s #%d %s/%s thread %s side %q less %v sent %d new %d leaves %v comp %v end %v\n", o.Flow, o.Number, o.match.Purpose, o.match.Course, o.match.Thread, o.match.Side, o.match.Less, o.match.Sent, len(o.match.New), o.match.Leaves, o.match.Compaction, o.end)
		if os.Getenv("V") != "" {
			for _, it := range o.request.Items {
				fmt.Printf("     %s %s %.100q %s\n", it.Role, it.Kind, it.Text, it.ID)
			}
			fmt.Printf("    => %v\n", o.Answer.Items)
		}
	}
}
