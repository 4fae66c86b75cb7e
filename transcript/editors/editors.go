// Package editors says where editors that grew out of Visual Studio Code keep what is a person's.
//
// It may not know any tool, the store or the network.
package editors

import (
	"path"

	"github.com/scrollback-ai/scrollback/transcript"
)

// names are the folders of the editors.
var names = []string{
	"Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Cursor", "Windsurf", "Windsurf - Next",
	"Trae", "Kiro",
	"Antigravity", "Positron", "Void",
}

// servers are the folders of editors on a machine that is worked on from another one.
var servers = []string{
	".vscode-server", ".vscode-server-insiders", ".vscode-remote", ".cursor-server", ".windsurf-server",
	".vscodium-server", ".trae-server",
	".antigravity-server",
}

// UserFolders lists the folders of settings and state of such editors, absolute; whether they are there or not.
func UserFolders(m transcript.Machine) []string {
	base := path.Join(m.Home, ".config")
	switch m.System {
	case "darwin":
		base = path.Join(m.Home, "Library/Application Support")
	case "windows":
		if base = m.Getenv("APPDATA"); base == "" {
			base = path.Join(m.Home, "AppData/Roaming")
		}
	default:
		if dir := m.Getenv("XDG_CONFIG_HOME"); dir != "" {
			base = dir
		}
	}
	var users []string
	for _, e := range names {
		users = append(users, path.Join(base, e, "User"))
	}
	for _, s := range servers {
		users = append(users, path.Join(m.Home, s, "data/User"))
	}
	if dir := m.Getenv("VSCODE_PORTABLE"); dir != "" {
		users = append(users, path.Join(dir, "user-data/User"))
	}
	return users
}
