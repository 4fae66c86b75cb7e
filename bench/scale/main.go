// Command scale says where a store that many servers share would first be full: it computes
// from a file of inputs how many turns a second each resource can serve for 1 to 1,000 nodes,
// simulates the way of turns through the database, and adds up what messages take.
//
//	go -C bench run ./scale                     the tables, from bench/scale/inputs.json
//	go -C bench run ./scale -inputs FILE        from other inputs
//	go -C bench run ./scale -write              into docs/SCALE.md, between its marks
//
// It is a model, and no measurement: an input is marked as measured or as assumed, and what
// it says is as good as they are. The same inputs give the same tables.
//
// Words it adds: input (a number that the model is given), resource (what turns use up),
// limit (how many turns a second one serves), split (shared out by databases that share the
// conversations).
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed inputs.json
var ours []byte

// The report stands between these in docs/SCALE.md.
const (
	begins = "<!-- written by go -C bench run ./scale -write -->\n"
	ends   = "<!-- until here -->\n"
)

func main() {
	file := flag.String("inputs", "", "a file of inputs like bench/scale/inputs.json")
	write := flag.Bool("write", false, "put the tables into docs/SCALE.md")
	flag.Parse()
	if err := runModel(*file, *write); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func runModel(file string, write bool) error {
	text := ours
	if file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return err
		}
	}
	in, err := readInputs(text)
	if err != nil {
		return err
	}
	tables := writeReport(in)
	if !write {
		fmt.Print(tables)
		return nil
	}
	if file != "" {
		return errors.New("docs/SCALE.md has the tables of bench/scale/inputs.json: change that")
	}
	name := filepath.Join("..", "docs", "SCALE.md")
	page, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("run it in the folder bench: %w", err)
	}
	out, err := replaceBetween(string(page), tables)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(out), 0o644)
}

// replaceBetween returns a page with the tables put between its marks.
func replaceBetween(page, tables string) (string, error) {
	before, rest, ok := strings.Cut(page, begins)
	_, after, ok2 := strings.Cut(rest, ends)
	if !ok || !ok2 {
		return "", errors.New("docs/SCALE.md has no marks to put the tables between")
	}
	return before + begins + "\n" + tables + "\n" + ends + after, nil
}
