package testlength

import (
	"flag"
	"testing"
)

func TestChoose(t *testing.T) {
	given := testing.Short()
	defer func() { setShort(t, given) }()
	setShort(t, false)
	for value, want := range map[string]int{"": 3, "short": 3, "full": 7, "long": 9} {
		t.Setenv(Variable, value)
		if got := Choose(3, 7, 9); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
	setShort(t, true)
	if got := Choose(3, 7, 9); got != 3 {
		t.Errorf("under -short %d, want 3", got)
	}
	setShort(t, false)
	t.Setenv(Variable, "Long")
	defer func() {
		if recover() == nil {
			t.Error("an unknown length is taken")
		}
	}()
	Choose(3, 7, 9)
}

func setShort(t *testing.T, on bool) {
	t.Helper()
	value := map[bool]string{true: "true", false: "false"}[on]
	if err := flag.Set("test.short", value); err != nil {
		t.Fatal(err)
	}
}
