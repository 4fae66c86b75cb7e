// Page makes what browsers are given of the page: its modules and styles, joined into a few
// files whose names are hashes of what is in them.
//
//	go -C tools/page run .           writes internal/server/webui/bundle
//	go -C tools/page run . -check    fails if what is there is not what its sources make
//
// The same sources and the same version of esbuild (go.mod) make the same bytes on every
// machine. What is made is committed, so that the program is built with Go alone.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// out is where the bundle stands, from the folder of this program.
const out = "../../internal/server/webui/bundle"

func main() {
	check := flag.Bool("check", false, "compare with what is there, and write nothing")
	flag.Parse()
	made, err := bundlePage()
	switch {
	case err != nil:
	case *check:
		err = compare(out, made)
	default:
		err = replace(out, made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// replace makes the files of a folder those of a bundle.
func replace(folder string, made map[string][]byte) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range made {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare returns an error that names the first file of a folder that is not the bundle's.
func compare(folder string, made map[string][]byte) error {
	const advice = "; go generate ./internal/server/webui makes it again"
	for _, name := range slices.Sorted(maps.Keys(made)) {
		there, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return fmt.Errorf("%w%s", err, advice)
		}
		if !bytes.Equal(there, made[name]) {
			return fmt.Errorf("%s is not what its sources make%s", name, advice)
		}
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range there {
		if _, ok := made[f.Name()]; !ok {
			return fmt.Errorf("%s is made of nothing%s", f.Name(), advice)
		}
	}
	return nil
}
