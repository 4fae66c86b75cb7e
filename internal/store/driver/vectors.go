package driver

import "github.com/scrollback-ai/scrollback"

// VectorState says how far the vectors of messages reach, of which model, with how many numbers each.
// Messages up to the number Watermark have theirs, as far as they are to have one; Newest is the number of the
// newest message. Purged grows with each purge that takes vectors away. Without a model there are none.
type VectorState struct {
	Model     string
	Dimension int
	Watermark int64
	Newest    int64
	Vectors   int64
	Purged    int64
}

// VectorBatch is the vectors of the messages after From up to To; messages without one are moved past. Those of
// messages that were purged meanwhile are left out. PutVectors is false unless the vectors that are there are of
// Model, their watermark is From, and they have Dimension numbers or there are none.
type VectorBatch struct {
	Model     string
	Dimension int
	From, To  int64
	All       []MessageVector
}

// MessageVector is the vector of one message: Data times Scale, a byte for each signed number.
type MessageVector struct {
	Sketch
	Scale float64
	Data  []byte
}

// Sketch is what is compared of a vector before it is read: bits, alike where vectors are.
type Sketch struct {
	Number    int64 // of the message
	Place     Place
	Role      scrollback.Role
	CreatedAt int64
	Bits      []byte
}

// SketchQuery reads at most Limit sketches: those of messages with a number above After, ascending; or those
// Within runs of places, ascending, in which case After does not count.
type SketchQuery struct {
	After  int64
	Within []PlaceRun
	Limit  int
}
