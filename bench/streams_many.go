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

// besideStreams measures what a reader of the list gets done beside open streams.
func (b *bench) besideStreams(url string, u *upstream) error {
	ids, err := talks(url)
	if err != nil {
		return err
	}
	for r := range rounds {
		for _, n := range []int{1, 50, mostStreams} {
			end, err := b.openMany(url, ids[:n], "please talk", u)
			if err != nil {
				return err
			}
			rate, err := requestRate(url)
			if err := errors.Join(err, end()); err != nil {
				return err
			}
			b.add(fmt.Sprintf("beside %d streams", n), r, rate, "requests/s")
		}
	}
	return nil
}

// memory measures what open streams take in a server that has had none before but a few.
func (b *bench) memory(url string, pid int, u *upstream, events bool) error {
	name, ids := "a stream of all events", make([]string, mostStreams+few)
	if !events {
		name = "a stream of a chat"
		var err error
		if ids, err = talks(url); err != nil {
			return err
		}
	}
	first, err := b.openMany(url, ids[:few], "please hold", u)
	if err != nil {
		return err
	}
	before, err := resident(pid)
	if err != nil {
		return err
	}
	others, err := b.openMany(url, ids[few:], "please hold", u)
	if err != nil {
		return err
	}
	after, err := resident(pid)
	if err := errors.Join(err, others(), first()); err != nil {
		return err
	}
	b.add("memory of "+name, 0, (after-before)/float64(len(ids)-few), "KB")
	return nil
}

// few streams are open before the memory of many is measured.
const few = 20

// openMany opens streams and returns what ends them.
func (b *bench) openMany(url string, ids []string, message string, u *upstream) (end func() error, err error) {
	open := make([]*stream, len(ids))
	errs := make([]error, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() { open[i], errs[i] = openStream(b.ctx, url, id, message) })
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
		u.release()
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
