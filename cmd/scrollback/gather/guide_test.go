package gather

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/collect"
)

// The guide names every field of import --json, and of a tool in it those that are always there.
func TestGuideOfImport(t *testing.T) {
	file, err := os.ReadFile("../../../docs/guides/collecting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(file), "With `--json`")
	part, _, ended := strings.Cut(part, "\n- ")
	if !ended {
		t.Fatal("the guide has no part about --json")
	}
	seen := 0
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			return
		}
		for i := range of.NumField() {
			name, rest, tagged := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && (rest == "" || of != reflect.TypeFor[collect.Found]()) {
				seen++
				if !strings.Contains(part, `"`+name+`"`) && !strings.Contains(part, "`"+name+"`") {
					t.Errorf("the guide lacks the field %s of %s", name, of)
				}
			}
			if (tagged || name != "" || of.Field(i).Anonymous) && of.Field(i).Name != "Problems" {
				look(of.Field(i).Type)
			}
		}
	}
	look(reflect.TypeFor[Result]())
	if seen < 25 {
		t.Errorf("only %d fields were found", seen)
	}
}
