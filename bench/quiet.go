//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of a quiet machine. A figure that was disturbed is measured again, and never takes the place of one that was
// not.
const (
	quietShare  = 0.05 // of the machine, that others may have
	quietSpread = 2.0  // times its median, that a raw figure may be in a round
	quietTries  = 3
)

// quietness is what disturbed a figure.
type quietness struct {
	others float64 // the share of the machine that other programs had
	raw    string  // the raw figure whose rounds differ most
	spread float64 // by how many times its median
	date   string  // when it was measured; empty where nobody noted it, nor what disturbed it
}

func (q quietness) isQuiet() bool {
	return q.date != "" && q.others <= quietShare && q.spread <= quietSpread
}

// String says what disturbed a figure, or that nothing did.
func (q quietness) String() string {
	if q.date == "" {
		return "Measured before it was noted how quiet the machine was"
	}
	said := "Measured on " + q.date + "; " + fmt.Sprintf("other programs had %.0f %% of the machine", 100*q.others)
	if q.spread > quietSpread {
		said += fmt.Sprintf(", and “%s” was %.1f times its median in a round", q.raw, q.spread)
	}
	return said
}

// quietWatch is the time that a machine and this process had when a figure began.
type quietWatch struct {
	began     time.Time
	busy, own time.Duration
}

func beginWatch() quietWatch { return quietWatch{time.Now(), machineTime(), ownTime()} }

// end says how quiet it was since the watch began, for rows that were measured meanwhile.
func (w quietWatch) end(rows []row) quietness {
	q := quietness{date: time.Now().UTC().Format(time.DateOnly)}
	whole := time.Since(w.began) * time.Duration(runtime.NumCPU())
	others := (machineTime() - w.busy) - (ownTime() - w.own)
	q.others = max(0, others.Seconds()/whole.Seconds())
	rounds := map[string][]float64{}
	for _, r := range rows {
		if isRaw(r.what) {
			rounds[r.what] = append(rounds[r.what], r.value)
		}
	}
	for what, values := range rounds {
		slices.Sort(values)
		if spread := values[len(values)-1] / max(values[len(values)/2], 1e-9); spread > q.spread {
			q.raw = what
			q.spread = spread
		}
	}
	return q
}

// isRaw reports whether a figure is of something that has nothing of this program in it, and is steady on a quiet
// machine: a median, not the worst case.
func isRaw(what string) bool {
	return (strings.HasPrefix(what, "raw SQLite") || strings.HasPrefix(what, "two syncs of a plain file")) &&
		strings.HasSuffix(what, ", p50")
}

// machineTime returns how long the processors of the machine were busy since it was started.
func machineTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	const perSecond = 100 // of the kernel's clock for users
	var user, nice, system, idle, wait, irq, soft, steal int64
	_, _ = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft,
		&steal)
	return time.Duration(user+nice+system+irq+soft+steal) * time.Second / perSecond
}

// ownTime returns the processor time of this process and of those that it has waited for.
func ownTime() (out time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			out += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return out
}

// measureQuietly measures a figure, and again while the machine is not quiet; the quietest run counts.
func (b *bench) measureQuietly(f figure) error {
	var best []row
	var least quietness
	before := len(b.rows)
	for try := range quietTries {
		watch := beginWatch()
		if err := f.run(b); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		reapChildren()
		fresh := slices.Clone(b.rows[before:])
		b.rows = b.rows[:before]
		q := watch.end(fresh)
		if try == 0 || max(q.others/quietShare, q.spread/quietSpread) <
			max(least.others/quietShare, least.spread/quietSpread) {
			best = fresh
			least = q
		}
		if q.isQuiet() || b.quick {
			break
		}
		fmt.Fprintf(os.Stderr, "   the machine was not quiet. %s\n", q)
	}
	b.rows = append(b.rows, best...)
	b.quiet[f.name] = least
	return nil
}
