package testlength

import "testing"

func TestOf(t *testing.T) {
	for value, want := range map[string]int{"": 3, "normal": 3, "long": 7} {
		t.Setenv(Variable, value)
		if got := Choose(3, 7); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
	t.Setenv(Variable, "Long")
	defer func() {
		if recover() == nil {
			t.Error("an unknown length is taken")
		}
	}()
	Choose(3, 7)
}
