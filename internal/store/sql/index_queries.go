package sqlstore

// The statements of a [indexSnapshot].
const (
	selectIndexState = `SELECT cut, watermark, dropped, forgotten FROM index_state WHERE id = 1`

	selectDroppedRuns = `SELECT n, branch, first_seq FROM index_dropped WHERE n > $1 ORDER BY n`

	selectLiveSegments = `SELECT id, tier, documents, terms, clean, places FROM index_segments WHERE state = 1 ORDER BY id`

	// blocksFrom finds the blocks that begin with a term, or after it and before another.
	blocksFrom = `SELECT b.segment, b.first_term, b.start, b.data FROM index_segments s JOIN index_blocks b
			ON b.segment = s.id AND b.first_term >= $1 AND b.first_term < $2 WHERE s.state = 1`

	// partsOf finds the parts of a term that have documents from one to before another.
	partsOf = `SELECT segment, first_term, start, data FROM index_blocks WHERE segment = $1 AND first_term = $2 AND start < $4
		AND start >= coalesce((SELECT max(x.start) FROM index_blocks x WHERE x.segment = $1 AND x.first_term = $2 AND x.start <= $3), 0)
		ORDER BY start`

	// marksBetween finds the marks of documents in a stretch of time.
	marksBetween = `SELECT start, from_time, to_time, data FROM index_marks WHERE segment = $1 AND to_time >= $2 AND from_time < $3`
)
