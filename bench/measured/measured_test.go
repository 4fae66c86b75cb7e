package measured_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

func TestWrite(t *testing.T) {
	all := []measured.Number{{What: "a turn", Value: 3, Unit: "ms"}, {What: "requests", Value: 12},
		{What: "a turn", Round: 1, Value: 1234, Unit: "ms"}, {What: "a turn", Round: 2, Value: 10.26, Unit: "ms"}}
	var b strings.Builder
	if err := measured.Write(&b, all, true); err != nil {
		t.Fatal(err)
	}
	if got, err := measured.Read(strings.NewReader(b.String())); err != nil || !slices.Equal(got, all) {
		t.Errorf("%v, %v", got, err)
	}
	b.Reset()
	want := "| | median |\n|---|---:|\n| a turn | 10.3 ms |\n| requests | 12.0 |\n"
	if err := measured.Write(&b, all, false); err != nil || b.String() != want {
		t.Errorf("the table is\n%s", b.String())
	}
}
