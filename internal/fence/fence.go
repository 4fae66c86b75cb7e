// Package fence holds the tests that judge the codebase itself: which room may
// import which, that no statement changes a message, that two pinned libraries
// agree, and the habits of tests.
//
// Each rule is a table at the top of its test. Changing one is a decision: do it in
// the change that needs it, and say why beside the entry.
//
// It knows the shape of the source and nothing of what it does.
package fence
