// Package typescript has the client for TypeScript and JavaScript as files: the modules that
// the page loads, and that npm packs.
//
// operations.js, operations.d.ts and types.d.ts are made of the API's description by go test
// ./internal/server -run TestTypeScriptClient -update, the other declarations of the modules
// by .ci/typescript -update. Everything else is written by hand: how requests are made, what
// errors are, and how streams are read.
//
// Invariants: there is no build step and no dependency; nothing but fetch is asked of where
// it runs.
//
// It knows no server.
package typescript

import "embed"

// Modules are the modules of the client, by name.
//
//go:embed *.js
var Modules embed.FS
