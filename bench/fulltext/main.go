//go:build linux

// Command fulltext measures two ways of finding words on PostgreSQL, on one server and in one
// run: the index that the store has, and a tsvector with a GIN index.
//
//	go -C bench run ./fulltext                    on a PostgreSQL that is thrown away
//	go -C bench run ./fulltext -dsn postgres://…  on a server on which databases may be made
//	go -C bench run ./fulltext -documents 2000    small, to see that it runs
//
// Both get the same documents, cut into the same terms, in batches as the product's, and are
// asked the same questions; that they find the same is held at each question. Rounds alternate
// between the ways, since a machine is seldom all ours.
//
// Words it adds: way (one of those that keep an index), question (what both are asked).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// run is one run of everything.
type run struct {
	ctx       context.Context
	documents int
	batch     int
	rounds    int
	times     int // a question is asked in a round

	pg   *cluster
	dsn  string // of the database
	ways []way
	talk *talk
	rows []row
}

func main() {
	dsn := flag.String("dsn", "",
		"URL of a PostgreSQL on which databases may be made; without it, one that is thrown away")
	bin := flag.String("bin", "", "folder with PostgreSQL's programs; without it, the newest of Debian's")
	documents := flag.Int("documents", 100_000, "how many documents")
	batch := flag.Int("batch", 64, "documents of a batch")
	rounds := flag.Int("rounds", 5, "rounds; the median is reported")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &run{ctx: ctx, documents: *documents, batch: *batch, rounds: *rounds, times: 40}
	if err := r.runAll(*dsn, *bin); err != nil {
		fmt.Fprintln(os.Stderr, "fulltext:", err)
		os.Exit(1)
	}
}

func (r *run) runAll(dsn, bin string) (err error) {
	if r.pg, err = startCluster(r.ctx, dsn, bin); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.pg.closeCluster()) }()
	if r.dsn, err = r.pg.createDatabase(r.ctx); err != nil {
		return err
	}
	if err := r.openWays(r.ctx, r.dsn); err != nil {
		return err
	}
	defer func() { r.closeWays() }()
	for _, step := range []func() error{r.loadAll, r.askAll, r.measureCold, r.measurePurge, r.measureTogether} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Print(r.writeReport())
	return nil
}

// openWays makes the ways on an empty database.
func (r *run) openWays(ctx context.Context, dsn string) error {
	r.talk = newTalk(1)
	r.ways = nil
	for _, open := range []func(context.Context, string) (way, error){openPostings, openVectors, openUnbuffered} {
		w, err := open(ctx, dsn)
		if err != nil {
			return err
		}
		r.ways = append(r.ways, w)
	}
	return nil
}

func (r *run) closeWays() {
	for _, w := range r.ways {
		w.closeWay()
	}
	r.ways = nil
}
