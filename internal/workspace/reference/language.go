package reference

import (
	"path"
	"strings"
)

// markdown is the language of the files whose own marks are followed.
const markdown = "markdown"

// fenceLanguage returns how fences name the language of a file, or empty.
func fenceLanguage(source string) string {
	name := strings.ToLower(path.Base(source))
	if l, ok := byName[name]; ok {
		return l
	}
	return byExtension[strings.TrimPrefix(path.Ext(name), ".")]
}

var byName = map[string]string{
	"dockerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile", "cmakelists.txt": "cmake",
	"go.mod":  "go",
	"gemfile": "ruby", "rakefile": "ruby", "jenkinsfile": "groovy", ".bashrc": "bash", ".zshrc": "zsh",
	".gitignore": "gitignore",
}

var byExtension = map[string]string{
	"md": markdown, "markdown": markdown, "mdown": markdown, "mkd": markdown,
	"go": "go", "rs": "rust", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp",
	"m":  "objectivec",
	"mm": "objectivec", "cs": "csharp", "fs": "fsharp", "vb": "vbnet", "java": "java", "kt": "kotlin", "kts": "kotlin",
	"scala": "scala", "groovy": "groovy", "gradle": "groovy", "clj": "clojure", "swift": "swift", "dart": "dart",
	"zig": "zig",
	"nim": "nim", "d": "d", "hs": "haskell", "ml": "ocaml", "mli": "ocaml", "elm": "elm", "ex": "elixir", "exs": "elixir",
	"erl": "erlang", "lua": "lua", "pl": "perl", "pm": "perl", "rb": "ruby", "php": "php", "py": "python", "pyi": "python",
	"r": "r", "jl": "julia", "lisp": "lisp", "el": "lisp", "scm": "scheme", "f90": "fortran", "pas": "pascal",
	"asm": "asm",
	"s":   "asm", "v": "verilog", "vhd": "vhdl", "sol": "solidity",
	"js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "jsx", "ts": "typescript", "mts": "typescript",
	"cts": "typescript", "tsx": "tsx", "vue": "vue", "svelte": "svelte", "html": "html", "htm": "html", "css": "css",
	"scss": "scss", "less": "less",
	"sh": "bash", "bash": "bash", "zsh": "zsh", "fish": "fish", "ps1": "powershell", "bat": "batch", "cmd": "batch",
	"sql": "sql", "graphql": "graphql", "proto": "protobuf", "tf": "hcl", "hcl": "hcl", "nix": "nix", "cmake": "cmake",
	"json": "json", "jsonl": "json", "ipynb": "json", "mtm": "json", "json5": "json5", "yaml": "yaml", "yml": "yaml",
	"toml": "toml",
	"ini":  "ini", "cfg": "ini", "conf": "ini", "xml": "xml", "svg": "xml", "csv": "csv", "tsv": "tsv", "tex": "latex",
	"rst": "rst", "adoc": "asciidoc", "diff": "diff", "patch": "diff", "mk": "makefile", "txt": "text", "log": "text",
}
