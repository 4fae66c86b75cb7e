package complete

import (
	_ "embed" // the scripts
	"io"
)

//go:embed scrollback.bash
var bash string

//go:embed scrollback.zsh
var zsh string

//go:embed scrollback.fish
var fish string

// WriteScript writes what a shell needs: bash, zsh or fish.
func WriteScript(w io.Writer, shell string) error {
	_, err := io.WriteString(w, map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[shell])
	return err
}
