package wordtable

import "testing"

const file = "# a comment\nrule\tpart\tpattern\tmeaning\texample\n\n" +
	"end\tpiece\t[.!]\tends\t.\nyes\tde\tja{end}|doch\tyes\tja.\nyes\tfr\toui\tyes\toui\n"

func TestTable(t *testing.T) {
	table := New("test", file)
	if got := table.Pattern("yes"); got != "ja[.!]|doch|oui" {
		t.Errorf("the pattern is %s", got)
	}
	if de, fr, none := table.PartOf("yes", "doch"), table.PartOf("yes", "oui"), table.PartOf("yes", "no"); de != "de" ||
		fr != "fr" || none != "" {
		t.Errorf("the parts are %q, %q and %q", de, fr, none)
	}
	said := table.Regexp(`^(?:yes|{yes}){1,2}$`)
	made := said()
	if !said().MatchString("doch") || !said().MatchString("yesoui") || said().MatchString("ja") || said() != made {
		t.Errorf("%s does not find what it should, or is made twice", said())
	}
}

// A fault of a file, or a rule that no row has, is a panic that names it.
func TestFaults(t *testing.T) {
	for name, do := range map[string]func(){
		"fields": func() { New("test", "rule\tpart\n").Rows() },
		"rule":   func() { New("test", file).Regexp("{no}")() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}
