package formula

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = os.Getenv("UPDATE") != ""

// Each formula in the table is followed by its MathML, or by why there is none.
func TestGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/formulas.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for entry := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		lines := strings.Split(entry, "\n")
		tex, inline := strings.CutPrefix(lines[0], "inline ")
		got, err := MathML(tex, !inline)
		if err != nil {
			got = "error: " + err.Error()
		}
		got = body(got)
		if want := strings.Join(lines[1:], "\n"); got != want && !update {
			t.Errorf("%s is\n%s\nand should be\n%s", tex, got, want)
		}
		out = append(out, lines[0]+"\n"+got)
	}
	if len(out) < 30 {
		t.Errorf("there are %d formulas", len(out))
	}
	if update {
		if err := os.WriteFile("testdata/formulas.txt", []byte(strings.Join(out, "\n\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// body is MathML without what surrounds all of it.
func body(s string) string {
	if i := strings.Index(s, "><mrow>"); i >= 0 && strings.HasPrefix(s, "<math") {
		return strings.TrimSuffix(s[i+len("><mrow>"):], "</mrow></math>")
	}
	return s
}

// well says what is wrong with MathML: its form, its elements or its attributes.
func well(s string) error {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		known, ok := Elements[start.Name.Local]
		if !ok {
			return errors.New("the element " + start.Name.Local)
		}
		for _, a := range start.Attr {
			if a.Name.Local != "class" && !slices.Contains(known, a.Name.Local) {
				return errors.New("the attribute " + a.Name.Local + " of " + start.Name.Local)
			}
		}
	}
}

// Every command that is known is translated, into MathML that is well-formed.
func TestEveryCommand(t *testing.T) {
	for _, table := range []map[string]string{letters, uprights, operators, spreads, integrals, widths, ignored,
		delimiters} {
		for name, sign := range table {
			if sign == "" {
				t.Errorf(`\%s stands for nothing`, name)
			}
			got, err := MathML(`a \`+name+` b`, true)
			if err == nil {
				err = well(got)
			}
			if err != nil {
				t.Errorf(`\%s: %v`, name, err)
			}
		}
	}
	for _, table := range []map[string]string{styles, accents, belows} {
		for name := range table {
			got, err := MathML(`\`+name+`{A b 1}_2`, true)
			if err == nil {
				err = well(got)
			}
			if err != nil {
				t.Errorf(`\%s: %v`, name, err)
			}
		}
	}
	for name, how := range layouts {
		columns := ""
		if how.columns {
			columns = "{rl}"
		}
		got, err := MathML(`\begin{`+name+`}`+columns+`a&b\\c&d\end{`+name+`}`, true)
		if err == nil {
			err = well(got)
		}
		if err != nil || strings.Count(got, "<mtd") != 4 {
			t.Errorf(`%s: %s, %v`, name, got, err)
		}
	}
}

// What grows without end ends.
func TestBounds(t *testing.T) {
	for _, tex := range []string{
		strings.Repeat("{", 4000), strings.Repeat(`\frac`, 1600), strings.Repeat(`\sqrt[`, 1000),
		strings.Repeat("x", MaxBytes+1),
		strings.Repeat(`\left(`, 1000), strings.Repeat(`\begin{matrix}`, 500), strings.Repeat("^", 4000),
		`\begin{matrix}` + strings.Repeat("&", 4000) + `\end{matrix}`,
	} {
		if got, err := MathML(tex, true); err == nil {
			t.Errorf("%.20s… is %.100s", tex, got)
		}
	}
}

func FuzzMathML(f *testing.F) {
	raw, err := os.ReadFile("testdata/formulas.txt")
	if err != nil {
		f.Fatal(err)
	}
	for entry := range strings.SplitSeq(string(raw), "\n\n") {
		f.Add(strings.Split(entry, "\n")[0])
	}
	f.Fuzz(func(t *testing.T, tex string) {
		got, err := MathML(tex, len(tex)%2 == 0)
		if err != nil {
			return
		}
		if err := well(got); err != nil && !strings.Contains(err.Error(), "illegal character code") {
			t.Fatalf("%q becomes %s: %v", tex, got, err)
		}
	})
}
