package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
)

// cleanFolder returns a working folder as all tools call it: without detours and slashes at its end.
func cleanFolder(folder string) string {
	if strings.HasPrefix(folder, "/") {
		return path.Clean(folder)
	}
	if short := strings.TrimRight(folder, `/\`); short != "" && !strings.HasSuffix(short, ":") { // a drive's root keeps it
		return short
	}
	return folder
}

// chooseProject returns where a new conversation goes: where the one is that it works for; the project
// that was asked for; that of its working folder, if each has one; where the one is that it
// continues; else that of the caller.
func (b *sessionImport) chooseProject(ctx context.Context, s *sessionSource, a conversationOrigin) (string, error) {
	im := b.im
	if a.of != nil {
		h, err := im.view.Bulk().Head(ctx, a.of.ID, scrollback.AccessWrite)
		return h.Project, err
	}
	switch {
	case b.q.Project != "":
		return b.q.Project, nil
	case b.q.ByFolder && s.Folder != "":
		return b.folderProject(ctx, s.Folder)
	case a.fork != nil:
		return a.fork.head.Project, nil
	}
	return "", nil
}

// folderProject returns the project of a working folder: the last part of its path, with the part
// before it or else a hash where other conversations have that name.
func (b *sessionImport) folderProject(ctx context.Context, folder string) (string, error) {
	parts := strings.FieldsFunc(folder, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 {
		parts = []string{folder}
	}
	last := clip.ClipLine(parts[len(parts)-1], maxFolderName)
	names := []string{last}
	if n := len(parts); n > 1 {
		names = append(names, clip.ClipLine(parts[n-2], maxFolderName)+" "+last)
	}
	for _, name := range names {
		if name == scrollback.DefaultProject {
			continue // it is everybody's
		}
		ours, err := b.isProjectOf(ctx, name, folder)
		if err != nil || ours {
			return name, err
		}
	}
	sum := sha256.Sum256([]byte(folder))
	return last + "-" + hex.EncodeToString(sum[:4]), nil
}

// maxFolderName bounds a part of the name of a folder's project, in characters.
const maxFolderName = 40

// isProjectOf reports whether a project is that of a folder, or nobody's.
func (b *sessionImport) isProjectOf(ctx context.Context, name, folder string) (bool, error) {
	im := b.im
	of, err := im.store.Origins.List(ctx, OriginQuery{Folder: folder, Projects: []string{name}, Trash: true,
		Limit: originsPage})
	for _, o := range of {
		if o.Folder == folder {
			return true, err
		}
	}
	for _, trash := range []bool{false, true} {
		if err != nil {
			return false, err
		}
		var some []scrollback.Conversation
		some, _, err = im.store.ListConversations(ctx, scrollback.ListQuery{Project: name, Trash: trash, Limit: 1})
		if len(some) > 0 {
			return false, err
		}
	}
	return true, err
}
