//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// measurePgbench measures pgbench's simple update on the same PostgreSQL, with as many clients as a
// server has connections to write, and with as many as there are conversations.
func (r *run) measurePgbench() error {
	place, err := r.pg.createDatabase(r.ctx, "pgbench")
	if err != nil {
		return err
	}
	program := filepath.Join(r.pg.bin, "pgbench")
	if out, err := exec.CommandContext(r.ctx, program, "-i", "-q", "-s", "10", place).CombinedOutput(); err != nil {
		return fmt.Errorf("pgbench -i: %w: %s", err, out)
	}
	for round := range r.rounds {
		for _, clients := range []int{1, 10, conversations} {
			prefix := filepath.Join(r.dir, fmt.Sprintf("pgbench-%d-%d", clients, round))
			out, err := exec.CommandContext(r.ctx, program, "-N", "-n", "-M", "prepared", "-c", fmt.Sprint(clients), "-j", "2",
				"-T", fmt.Sprint(r.seconds), "-l", "--log-prefix", prefix, place).CombinedOutput()
			if err != nil {
				return fmt.Errorf("pgbench: %w: %s", err, out)
			}
			took, err := readLogged(prefix)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("pgbench -N, %d clients", clients)
			r.addValue(what, postgres, float64(len(took))/float64(r.seconds), "transactions/s")
			r.addValue(what+", p99", postgres, percentileMS(took, 0.99), "ms")
		}
	}
	return nil
}

// readLogged reads how long each transaction of pgbench took, in milliseconds, from its logs.
func readLogged(prefix string) ([]float64, error) {
	names, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return nil, err
	}
	var took []float64
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// client, number, microseconds, script, time, its microseconds
			if fields := strings.Fields(lines.Text()); len(fields) >= 3 {
				us, err := strconv.ParseFloat(fields[2], 64)
				if err != nil {
					return nil, errors.Join(err, f.Close())
				}
				took = append(took, us/1000)
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, err
		}
	}
	if len(took) == 0 {
		return nil, errors.New("pgbench logged no transaction")
	}
	return took, nil
}
