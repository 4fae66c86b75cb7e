// Package testparallel lets more tests run beside each other than there are processors. Only
// the TestMain of rooms whose tests wait most of their time (for processes, databases, disks, a
// browser) imports it.
package testparallel

import (
	"flag"
	"runtime"
	"strconv"
)

// Double lets twice as many parallel tests run as there are processors, unless -parallel says
// how many. It parses the flags.
func Double() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the package testing has no such flag any more
	}
}
