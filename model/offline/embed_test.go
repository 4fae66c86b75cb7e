package offline_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/vector"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// Other words for the same thing are nearer than other things, in two languages and between them; the same text
// gives the same vector, and every text has one.
func TestEmbedTexts(t *testing.T) {
	texts := []string{"When do I see the doctor?", "My appointment with the physician is on Tuesday.",
		"The automobile is in the garage.", "看大夫的时间是周二。", "", "Where did I park my car?", "When do I see the doctor?"}
	got, err := offline.New(nil).EmbedTexts(t.Context(), texts)
	if err != nil || got.Check(len(texts)) != nil || got.InputTokens == 0 {
		t.Fatalf("%d vectors of %d texts, %d tokens, %v", len(got.Vectors), len(texts), got.InputTokens, err)
	}
	near := func(a, b int) float64 {
		x, ok := vector.Normalise(got.Vectors[a])
		y, also := vector.Normalise(got.Vectors[b])
		if !ok || !also {
			t.Fatalf("texts %d and %d have no vectors", a, b)
		}
		data, scale := vector.Pack(y)
		return vector.Compare(x, data, scale)
	}
	if near(0, 1) < near(0, 2)+0.1 || near(0, 3) < near(0, 2)+0.1 || near(5, 2) < near(5, 1)+0.1 {
		t.Errorf("doctor-physician %.2f, doctor-大夫 %.2f, doctor-automobile %.2f, car-automobile %.2f, car-physician %.2f",
			near(0, 1), near(0, 3), near(0, 2), near(5, 2), near(5, 1))
	}
	if near(0, 6) < 0.999 {
		t.Errorf("the same text twice: %.3f", near(0, 6))
	}
	near(4, 0)
}
