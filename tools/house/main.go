// House measures the shape of the code, for a reader who compares two states of it: rooms and
// their lines, names of one word, assignments that do several things at once, what a small
// program links, and which packages a turn, a search, an import and a compaction enter.
//
//	go -C tools run ./house ..
//
// None of the figures is a goal.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: house FOLDER")
		os.Exit(2)
	}
	if err := measure(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func measure(root string) error {
	c, err := count(root)
	if err != nil {
		return err
	}
	fmt.Printf("rooms                         %d\n", len(c.rooms))
	fmt.Printf("lines, tests apart            %d\n", c.lines)
	fmt.Printf("lines of tests                %d\n", c.testLines)
	fmt.Printf("lines of the fence            %d\n", c.fence)
	fmt.Printf("functions of one word         %.1f %% of %d\n", share(c.oneWord, c.functions), c.functions)
	fmt.Printf("letters of a function's name  %.1f\n", float64(c.letters)/float64(max(c.functions, 1)))
	fmt.Printf("two-sided assignments         %.1f %% of %d\n", share(c.twoSided, c.assignments), c.assignments)
	if err := hello(root); err != nil {
		return err
	}
	return walks(root)
}

type counted struct {
	rooms                   map[string]bool
	lines, testLines, fence int
	functions, oneWord      int
	letters                 int
	assignments, twoSided   int
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// count reads every Go file of the product below root.
func count(root string) (counted, error) {
	c := counted{rooms: map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "testdata" || name == "node_modules" || name == "tools" || name[0] == '.' ||
				name[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return c.file(path, text)
	})
	return c, err
}

func (c *counted) file(path string, text []byte) error {
	lines := bytes.Count(text, []byte("\n"))
	dir := filepath.Dir(path)
	if strings.HasSuffix(dir, filepath.Join("internal", "fence")) {
		c.fence += lines
	}
	if strings.HasSuffix(path, "_test.go") {
		c.testLines += lines
		return nil
	}
	c.rooms[dir] = true
	c.lines += lines
	tree, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			c.functions++
			c.letters += len(n.Name.Name)
			if words(n.Name.Name) == 1 {
				c.oneWord++
			}
		case *ast.AssignStmt:
			c.assignments++
			if len(n.Lhs) > 1 && len(n.Rhs) == len(n.Lhs) {
				c.twoSided++
			}
		}
		return true
	})
	return nil
}

// words counts the words of a name in camel case.
func words(name string) int {
	n := 1
	runes := []rune(name)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			n++
		}
	}
	return n
}

const helloText = `package main

import (
	"context"

	"github.com/scrollback-ai/scrollback/local"
)

func main() {
	sb, err := local.Open(context.Background(), "", nil)
	if err != nil {
		panic(err)
	}
	defer sb.Close()
}
`

// hello builds the smallest program that opens a store, and says how much it links.
func hello(root string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(root, "hello")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(helloText), 0o600); err != nil {
		return err
	}
	out := filepath.Join(dir, "hello")
	if _, err := run(dir, nil, "go", "build", "-ldflags=-s -w", "-o", out, "."); err != nil {
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	deps, err := run(dir, nil, "go", "list", "-deps", ".")
	if err != nil {
		return err
	}
	fmt.Printf("hello, stripped               %.1f MB, %d packages\n", float64(info.Size())/1e6, len(strings.Fields(deps)))
	return nil
}

// walks counts the packages of this module in which a statement of a function runs when the
// program does one thing, beyond those that run for "version" anyway.
func walks(root string) error {
	dir, err := os.MkdirTemp("", "walks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "scrollback")
	if _, err := run(root, nil, "go", "build", "-cover", "-coverpkg=./...", "-o", program,
		"./cmd/scrollback"); err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	file := filepath.Join(dir, "talk.jsonl")
	const talk = `{"role":"user","content":"Where is the key?"}` + "\n" + `{"role":"assistant","content":"In the shed."}` +
		"\n"
	if err := os.WriteFile(file, []byte(talk), 0o600); err != nil {
		return err
	}
	idle, err := entered(root, program, data, dir, "version")
	if err != nil {
		return err
	}
	for _, w := range [][]string{{"a turn", "run", "The key is in the shed."}, {"a search", "search", "key"},
		{"an import", "import", file, "--from", "jsonl"}, {"a compaction", "compact", "latest", "--force"}} {
		all, err := entered(root, program, data, dir, w[1:]...)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(p string) bool { return slices.Contains(idle, p) })
		fmt.Printf("%-29s %d packages\n", w[0]+" enters", len(all))
	}
	return nil
}

// entered runs the program and lists the packages of which something ran.
func entered(root, program, data, dir string, args ...string) ([]string, error) {
	counts, err := os.MkdirTemp(dir, "counts")
	if err != nil {
		return nil, err
	}
	if _, err := run(dir, []string{"GOCOVERDIR=" + counts, "SCROLLBACK_DATA=" + data}, program, args...); err != nil {
		return nil, err
	}
	said, err := run(root, nil, "go", "tool", "covdata", "percent", "-i", counts)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(said) {
		if name, of, ok := strings.Cut(strings.TrimSpace(line), "coverage:"); ok && !strings.Contains(of, " 0.0%") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out, nil
}

func run(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
