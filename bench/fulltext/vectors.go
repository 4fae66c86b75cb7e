//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// most is how often a term counts at most, in both ways.
const most = 255

// vectors is a table with a tsvector a document. A term has the positions 1 to as often as it
// occurs, at most 255, whatever its places in the text: so its count comes back, and neither
// the end of positions at 16,383 nor that of 256 for a term is met.
type vectors struct {
	called, table string
	conn          *pgx.Conn
}

// openVectors makes the table with an index that buffers what is new, as is PostgreSQL's way.
func openVectors(ctx context.Context, dsn string) (way, error) {
	return vectorsIn(ctx, dsn, &vectors{called: "tsvector", table: "bench_buffered"}, "on")
}

// openUnbuffered makes one whose index has what is new at once.
func openUnbuffered(ctx context.Context, dsn string) (way, error) {
	return vectorsIn(ctx, dsn, &vectors{called: "tsvector, fastupdate off", table: "bench_unbuffered"}, "off")
}

func vectorsIn(ctx context.Context, dsn string, v *vectors, fastupdate string) (way, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	// A plan without the words would not know which of them are rare.
	config.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	if v.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	_, err = v.conn.Exec(ctx, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (place bigint PRIMARY KEY, role text NOT NULL, at bigint NOT NULL,
			length bigint NOT NULL, terms tsvector NOT NULL);
		CREATE INDEX IF NOT EXISTS %[1]s_terms ON %[1]s USING gin (terms) WITH (fastupdate = %[2]s)`, v.table, fastupdate))
	return v, err
}

func (v *vectors) wayName() string      { return v.called }
func (v *vectors) listTables() []string { return []string{v.table} }
func (v *vectors) closeWay()            { _ = v.conn.Close(context.Background()) } // the database is thrown away

func (v *vectors) putBatch(ctx context.Context, batch []driver.Document) error {
	return putVectors(ctx, v.conn, v.table, batch)
}

func putVectors(ctx context.Context, conn *pgx.Conn, table string, batch []driver.Document) error {
	var places, at, lengths []int64
	var roles, texts []string
	for _, d := range batch {
		places = append(places, int64(d.Place))
		at = append(at, d.CreatedAt)
		lengths = append(lengths, int64(d.Length))
		roles = append(roles, string(d.Role))
		texts = append(texts, vectorLiteral(d.Terms))
	}
	_, err := conn.Exec(ctx, `INSERT INTO `+table+` (place, role, at, length, terms)
		SELECT p, r, a, l, CAST(t AS tsvector) FROM unnest(CAST($1 AS bigint[]), CAST($2 AS text[]), CAST($3 AS bigint[]), CAST($4 AS bigint[]),
			CAST($5 AS text[])) AS new (p, r, a, l, t)`, places, roles, at, lengths, texts)
	return err
}

// vectorLiteral returns a tsvector as text. Terms are of letters, marks and digits alone.
func vectorLiteral(cut []string) string {
	sorted := slices.Sorted(slices.Values(cut))
	var b strings.Builder
	for i := 0; i < len(sorted); {
		first := i
		for i++; i < len(sorted) && sorted[i] == sorted[first]; i++ {
		}
		fmt.Fprintf(&b, "'%s'", sorted[first])
		for n := 1; n <= min(i-first, most); n++ {
			fmt.Fprintf(&b, "%c%d", ":,"[min(n-1, 1)], n)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// ranks are what ts_rank makes of a term that occurs 1, 2, … times, with a weight of 1.
var ranks = func() (all [most]float64) {
	sum := 0.0
	for n := range all {
		sum += 1 / math.Pow(float64(n+1), 2)
		all[n] = sum / 1.64493406685
	}
	return all
}()

// countOf returns how often a term occurs that has this rank.
func countOf(rank float32) uint8 {
	n := sort.SearchFloat64s(ranks[:], float64(rank))
	if n == most || n > 0 && float64(rank)-ranks[n-1] < ranks[n]-float64(rank) {
		n--
	}
	return uint8(n + 1)
}

func (v *vectors) findDocuments(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	out := make([]driver.Postings, len(q.Terms))
	var batch pgx.Batch
	for i, t := range q.Terms {
		if q.Within != nil {
			batch.Queue(`SELECT count(*) FROM `+v.table+` WHERE terms @@ CAST($1 AS tsquery)`,
				termQuery(t)).QueryRow(func(r pgx.Row) error {
				return r.Scan(&out[i].Holding)
			})
		}
		runs := q.Within
		if runs == nil {
			runs = []driver.PlaceRun{{First: 0, Last: math.MaxInt64}}
		}
		for _, run := range runs {
			v.queueTerm(&batch, t, run, &out[i])
		}
	}
	if err := v.conn.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, err
	}
	for i := range out {
		if q.Within == nil {
			out[i].Holding = int64(len(out[i].Places))
		}
	}
	return out, nil
}

// termQuery returns a term as a tsquery.
func termQuery(term string) string {
	if begin, ok := strings.CutSuffix(term, "*"); ok {
		return "'" + begin + "':*"
	}
	return "'" + term + "'"
}

// queueTerm reads a term's places within a run, with its counts. Those of a beginning are the sum
// over its terms, which no rank tells.
func (v *vectors) queueTerm(batch *pgx.Batch, term string, run driver.PlaceRun, to *driver.Postings) {
	from := ` FROM ` + v.table + ` WHERE terms @@ CAST($1 AS tsquery) AND place BETWEEN $2 AND $3 ORDER BY place`
	if begin, ok := strings.CutSuffix(term, "*"); ok {
		batch.Queue(`SELECT place, (SELECT least(sum(cardinality(u.positions)), 255) FROM unnest(terms) AS u (lexeme, positions, weights)
			WHERE starts_with(u.lexeme, $4))`+from, termQuery(term), int64(run.First), int64(run.Last), begin).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var at, n int64
				if err := rows.Scan(&at, &n); err != nil {
					return err
				}
				to.Places = append(to.Places, driver.Place(at))
				to.Counts = append(to.Counts, uint8(n))
			}
			return rows.Err()
		})
		return
	}
	batch.Queue(`SELECT place, ts_rank('{1,1,1,1}', terms, CAST($1 AS tsquery))`+from, termQuery(term), int64(run.First),
		int64(run.Last)).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var at int64
				var rank float32
				if err := rows.Scan(&at, &rank); err != nil {
					return err
				}
				to.Places = append(to.Places, driver.Place(at))
				to.Counts = append(to.Counts, countOf(rank))
			}
			return rows.Err()
		})
}

// readPlaces reads the places alone that hold all terms, which is less than find returns.
func (v *vectors) readPlaces(ctx context.Context, q driver.PostingQuery) (int, error) {
	var all []string
	for _, t := range q.Terms {
		all = append(all, termQuery(t))
	}
	run := driver.PlaceRun{Last: math.MaxInt64}
	if q.Within != nil {
		run = q.Within[0]
	}
	rows, err := v.conn.Query(ctx, `SELECT place FROM `+v.table+
		` WHERE terms @@ CAST($1 AS tsquery) AND place BETWEEN $2 AND $3 ORDER BY place`,
		strings.Join(all, " & "), int64(run.First), int64(run.Last))
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return len(found), err
}

func (v *vectors) hideBranches(ctx context.Context, branches []int64) error {
	tx, err := v.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	for _, b := range branches {
		_, err := tx.Exec(ctx, `DELETE FROM `+v.table+` WHERE place BETWEEN $1 AND $2`, int64(driver.NewPlace(b, 0)),
			int64(driver.NewPlace(b, math.MaxUint32)))
		if err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

func (v *vectors) cleanUp(ctx context.Context) error {
	_, err := v.conn.Exec(ctx, `VACUUM `+v.table)
	return err
}
