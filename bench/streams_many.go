//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mostStreams is how many streams are open at the most.
const mostStreams = 500

// talks are the ids of conversations, made if they are not there.
func talks(url string) (ids []string, err error) {
	for i := range mostStreams {
		id := fmt.Sprintf("01a00000-0000-7000-8000-%012d", i)
		if _, err := request(url+"/api/conversations", []byte(`{"id":"`+id+`"}`)); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// beside measures what a reader of the list gets done beside open streams.
func (b *streaming) beside() error {
	ids, err := talks(b.url)
	if err != nil {
		return err
	}
	for r := range rounds {
		for _, n := range []int{1, 50, mostStreams} {
			end, err := b.openMany(ids[:n], "please talk")
			if err != nil {
				return err
			}
			rate, err := requestRate(b.url)
			if err := errors.Join(err, end()); err != nil {
				return err
			}
			b.bench.add(fmt.Sprintf("beside %d streams", n), r, rate, "requests/s")
		}
	}
	return nil
}

// memory measures what open streams take in a server that has had none before but a few.
func (b *streaming) memory(events bool) error {
	name, ids := "a stream of all events", make([]string, mostStreams+few)
	if !events {
		name = "a stream of a chat"
		var err error
		if ids, err = talks(b.url); err != nil {
			return err
		}
	}
	first, err := b.openMany(ids[:few], "please hold")
	if err != nil {
		return err
	}
	before, err := resident(b.pid)
	if err != nil {
		return err
	}
	others, err := b.openMany(ids[few:], "please hold")
	if err != nil {
		return err
	}
	after, err := resident(b.pid)
	if err := errors.Join(err, others(), first()); err != nil {
		return err
	}
	b.bench.add("memory of "+name, 0, (after-before)/float64(len(ids)-few), "KB")
	return nil
}

// few streams are open before the memory of many is measured.
const few = 20

// openMany opens streams and returns what ends them.
func (b *streaming) openMany(ids []string, message string) (end func() error, err error) {
	open := make([]*stream, len(ids))
	errs := make([]error, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() { open[i], errs[i] = openStream(b.bench.ctx, b.url, id, message) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id != "" {
			wait.Go(func() { errs[i] = open[i].drain() })
		}
	}
	return func() error {
		b.u.release()
		for i, id := range ids {
			if id == "" {
				errs[i] = open[i].body.Close()
			}
		}
		wait.Wait()
		return errors.Join(errs...)
	}, nil
}

// requestRate is how often four readers get the newest conversations in a second.
func requestRate(url string) (float64, error) {
	const workers, lasting = 4, time.Second
	var done atomic.Int64
	errs := make([]error, workers)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range workers {
		wait.Go(func() {
			for time.Since(start) < lasting && errs[i] == nil {
				_, errs[i] = request(url+"/api/conversations?limit=20", nil)
				done.Add(1)
			}
		})
	}
	wait.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}

// resident is the memory, in KB, that a process has resident.
func resident(pid int) (kb float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(rest, &kb)
	return kb, err
}
