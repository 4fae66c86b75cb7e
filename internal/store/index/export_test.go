package index

import "time"

// For tests.
const (
	TailMessages  = tailMessages
	BatchMessages = batchMessages
	MostMessages  = mostMessages
	QuietTime     = quietTime
	YieldTime     = yieldTime
)

// Version makes the terms of an index those of another version.
func (x *Index) Version(v int) { x.version = v }

// ScanTime bounds the time of a scan.
func (x *Index) ScanTime(d time.Duration) { x.scanTime = d }
