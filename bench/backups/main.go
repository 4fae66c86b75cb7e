// Command backups measures what a backup takes beside a copy of the same bytes: it fills a data folder, then makes,
// verifies and restores backups of it with the real program.
//
//	go -C bench run ./backups             64 MB, to see that it runs
//	go -C bench run ./backups -mb 2048    two gigabytes; half text in messages, half bytes behind artifacts
//	go -C bench run ./backups -json       numbers for the report, instead of a table
//
// Words it adds: copy (cp of the data folder, to the same disk, with a sync).
//
// Figures are the medians of three rounds, over the bytes of the data folder; memory is the peak of the process.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// rounds is how often everything is measured.
const rounds = 3

func main() {
	mb := flag.Int("mb", 64, "megabytes of conversations")
	asJSON := flag.Bool("json", false, "print numbers for the report instead of a table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	all, err := measureBackups(ctx, *mb<<20)
	if err == nil {
		err = measured.Write(os.Stdout, all, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bench is the program over folders of its own.
type bench struct{ dir, program string }

// measureBackups fills a data folder, and measures.
func measureBackups(ctx context.Context, bytes int) (all []measured.Number, err error) {
	dir, err := os.MkdirTemp("", "scrollback-backups-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in a temporary folder
	b := bench{dir, filepath.Join(dir, "scrollback")}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/scrollback")
	build.Dir = ".." // the product's module
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	data := filepath.Join(dir, "data")
	if err := b.fill(ctx, data, bytes); err != nil {
		return nil, err
	}
	size, err := sizeOf(data)
	if err != nil {
		return nil, err
	}
	all = append(all, measured.Number{What: "the data folder", Value: float64(size) / 1e6, Unit: "MB"})
	for round := range rounds {
		of := filepath.Join(dir, fmt.Sprint(round))
		if err := os.Mkdir(of, 0o700); err != nil {
			return nil, err
		}
		plain := filepath.Join(of, "plain.backup")
		sealed := filepath.Join(of, "encrypted.backup")
		for _, step := range []struct {
			what    string
			program string
			args    []string
		}{
			{"copy", "sh", []string{"-c", `cp -a "$0" "$1" && sync -f "$1"`, data, filepath.Join(of, "copied")}},
			{"backup", b.program, []string{"--data", data, "backup", "create", plain}},
			{"verify", b.program, []string{"backup", "verify", plain}},
			{"restore", b.program, []string{"--data", filepath.Join(of, "restored"), "backup", "restore", plain}},
			{"encrypted backup", b.program, []string{"--data", data, "backup", "create", sealed, "--encrypt"}},
			{"encrypted verify", b.program, []string{"backup", "verify", sealed}},
			{"encrypted restore", b.program, []string{"--data", filepath.Join(of, "opened"), "backup", "restore", sealed}},
		} {
			took, used, err := b.run(ctx, step.program, step.args...)
			if err != nil {
				return nil, err
			}
			add := func(what string, v float64, unit string) {
				all = append(all, measured.Number{What: step.what + what, Round: round, Value: v, Unit: unit})
			}
			add("", float64(size)/1e6/took.Seconds(), "MB/s")
			cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
			add(": CPU a gigabyte", cpu.Seconds()*1e9/float64(size), "s")
			if step.program == b.program {
				add(": peak memory", float64(used.Maxrss<<10)/1e6, "MB")
			}
		}
		info, err := os.Stat(plain)
		if err != nil {
			return nil, err
		}
		all = append(all, measured.Number{What: "size of a backup", Round: round, Value: float64(info.Size()) / 1e6,
			Unit: "MB"})
		if err := os.RemoveAll(of); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// run runs a program to its end, and returns what it took.
func (b bench) run(ctx context.Context, program string, args ...string) (time.Duration, *syscall.Rusage, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	home := filepath.Join(b.dir, "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"SCROLLBACK_CONFIG="+os.DevNull)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, nil, fmt.Errorf("what %s took is not known", program)
	}
	return took, used, nil
}

// words are what made messages consist of.
var words = strings.Fields("the pump near the harbour wall ran for nine hours before the gauge of the second tank " +
	"fell below its mark so the keeper closed the valve and wrote it down")

// fill imports conversations: half of the bytes is text in messages, half is bytes behind artifacts.
func (b bench) fill(ctx context.Context, data string, bytes int) error {
	name := filepath.Join(b.dir, "talk.jsonl")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	out := bufio.NewWriter(f)
	enc := json.NewEncoder(out)
	said := func(role string, n int) error {
		var text strings.Builder
		for text.Len() < n {
			fmt.Fprintf(&text, "%s %d ", words[random.IntN(len(words))], random.IntN(10_000))
		}
		return enc.Encode(map[string]any{"role": role, "content": text.String()})
	}
	output := make([]byte, 192<<10)
	for written := 0; written < bytes && err == nil; written += 512 << 10 {
		for i := 0; i < 128 && err == nil; i++ {
			err = said([]string{"user", "assistant"}[i%2], 2<<10)
		}
		for i := range output {
			output[i] = byte(random.Uint32())
		}
		for _, m := range []map[string]any{{"role": "user", "content": "Show it."}, {"role": "assistant", "content": nil,
			"tool_calls": []any{map[string]any{"id": "t", "type": "function",
				"function": map[string]any{"name": "sh", "arguments": "{}"}}}},
			{"role": "tool", "tool_call_id": "t", "content": base64.StdEncoding.EncodeToString(output)}} {
			if err == nil {
				err = enc.Encode(m)
			}
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if _, _, err := b.run(ctx, b.program, "--data", data, "import", name); err != nil {
		return err
	}
	return os.Remove(name)
}

// sizeOf returns how many bytes the files of a folder have.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
