//go:build !unix

package workspace

// noWait is nothing where files are not pipes.
const noWait = 0
