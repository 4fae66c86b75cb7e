package terms

// Version names the way in which this package cuts text. It grows with every change of
// what [EachTerm] yields: an index of an older version is made again.
const Version = 3
