package config

import (
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Import says what is brought of other tools' conversations, and how, where no flag does.
type Import struct {
	From      []string // tools; empty for all
	Exclude   []string // tools and folders
	Mask      bool
	ProjectBy string        // "folder", or empty
	Poll      time.Duration // between two looks at everything while it is watched; 0 is the default
}

// leastPoll is how often everything is looked at, at most.
const leastPoll = time.Second

// parseImport reads what is brought of other tools.
func (s *Settings) parseImport(src settingsSource) error {
	k := src.k
	at := "import" + dot
	s.Watch = k.Bool("watch")
	s.Import = Import{From: src.readTexts(at + "from"), Exclude: src.readTexts(at + "exclude"), Mask: k.Bool(at + "mask"),
		ProjectBy: k.String(at + "project_by")}
	if by := s.Import.ProjectBy; by != "" && by != "folder" {
		return scrollback.ParamErrorf("scrollback", "import", i18n.ImportProjectByIsFolder, by)
	}
	if text := k.String(at + "poll"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < leastPoll {
			return scrollback.ParamErrorf("scrollback", "import", i18n.ImportPollIsTime,
				text)
		}
		s.Import.Poll = d
	}
	return nil
}
