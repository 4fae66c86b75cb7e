package reference

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

// Why something is left out.
var (
	errNoImages = errors.New("refused: remote images are not allowed")
	errNoTools  = errors.New("refused: recall tools cannot be run here")
	errNotJSON  = errors.New("its arguments are not JSON")
)

// triesEach bounds how many names are looked for, for each reference that may be followed.
const triesEach = 20

// withDefaults returns the limits, with defaults for those that are zero.
func (l MarkLimits) withDefaults() MarkLimits {
	return MarkLimits{
		FileBytes:  cmp.Or(l.FileBytes, 256<<10),
		TotalBytes: cmp.Or(l.TotalBytes, 1<<20),
		Files:      cmp.Or(l.Files, 200),
		Depth:      cmp.Or(l.Depth, 5),
		Entries:    cmp.Or(l.Entries, 1000),
		Images:     cmp.Or(l.Images, 20),
		ImageBytes: cmp.Or(l.ImageBytes, 20<<20),
		ImagesSum:  cmp.Or(l.ImagesSum, 64<<20),
	}
}

// Resolve reads what the marks of a prompt name, in their order; behind a Markdown file
// comes what its own marks name. What is named twice is read once. Whatever cannot be read has
// an Error instead. The only error is the end of ctx.
func Resolve(ctx context.Context, text string, o Options) ([]Found, error) {
	r := &resolver{ctx: ctx, o: o, limits: o.Limits.withDefaults(), seen: map[string]bool{}}
	marks := Parse(text, o.Plain)
	if len(marks) > 0 {
		r.folders = workspace.OpenFolders(o.Roots)
		defer r.folders.Close()
		r.left = r.limits.TotalBytes
		r.resolveAll(marks, nil)
		r.sayLeftOut()
	}
	if err := scrollback.Wrap(scrollback.Canceled, "reference.Resolve", ctx.Err()); err != nil {
		return nil, err
	}
	return r.found, nil
}

type resolver struct {
	ctx     context.Context
	o       Options
	limits  MarkLimits
	folders *workspace.Folders

	found   []Found
	seen    map[string]bool // what was read, or marks that could not be
	open    []openedFile    // Markdown files whose marks are being followed
	tries   int
	images  int
	shown   int64 // bytes of images
	left    int64 // bytes of text
	skipped int64 // bytes read to find lines
	leftOut []Mark
}

// openedFile is a Markdown file whose marks are being followed.
type openedFile struct {
	source, folder string
	found          int // its place among what was found
}

// resolveAll follows marks, those of a prompt or of the Markdown file that was opened last.
func (r *resolver) resolveAll(marks []Mark, within *openedFile) {
	for _, m := range marks {
		if r.ctx.Err() != nil {
			return
		}
		if within != nil && m.Kind != scrollback.ReferenceFile {
			continue // a file does not run tools, and its images are not what somebody showed
		}
		if within == nil && !r.isFirst("mark "+m.Text) {
			continue
		}
		if len(r.found) >= r.limits.Files || r.tries >= triesEach*r.limits.Files {
			if !m.bare { // which may be none
				r.leftOut = append(r.leftOut, m)
			}
			continue
		}
		r.tries++
		switch m.Kind {
		case scrollback.ReferenceTool:
			r.runTool(m)
		case scrollback.ReferenceImage:
			r.resolveImage(m)
		default:
			r.resolveFile(m, within)
		}
	}
}

// sayLeftOut reports the marks that were too many as one.
func (r *resolver) sayLeftOut() {
	if len(r.leftOut) == 0 {
		return
	}
	f := refuseMark(r.leftOut[0], fmt.Errorf("left out: the limit of references is %d", r.limits.Files))
	if n := len(r.leftOut) - 1; n > 0 {
		f.Error = fmt.Sprintf("left out, with %d more: the limit of references is %d", n, r.limits.Files)
	}
	r.found = append(r.found, f)
}

// isFirst reports whether something is met for the first time.
func (r *resolver) isFirst(key string) bool {
	first := !r.seen[key]
	r.seen[key] = true
	return first
}

// refuseMark returns a mark that is not followed.
func refuseMark(m Mark, err error) Found {
	return Found{Reference: scrollback.Reference{Mark: m.Text, Source: cmp.Or(m.Path, m.Text), Kind: m.Kind,
		Error: err.Error()}}
}

// keepText adds a text, if there is room for it.
func (r *resolver) keepText(f Found) {
	if f.Error == "" {
		if n := int64(len(f.Content)); n > r.left {
			f = Found{Reference: f.Reference}
			f.Error = fmt.Sprintf("too large: %s, and of the %s for all references %s are left",
				formatBytes(n), formatBytes(r.limits.TotalBytes), formatBytes(r.left))
		} else {
			r.left -= n
			f.Bytes = n
			f.SHA256 = hashContent([]byte(f.Content))
		}
	}
	r.found = append(r.found, f)
}

func hashContent(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// runTool runs a recall tool.
func (r *resolver) runTool(m Mark) {
	var args bytes.Buffer
	bad := json.Compact(&args, m.Args)
	f := Found{Reference: scrollback.Reference{Mark: m.Text, Source: m.Tool + args.String(), Kind: m.Kind}}
	if bad != nil {
		f.Source = m.Text
	}
	if !r.isFirst(f.Source) {
		return
	}
	if r.o.Call == nil {
		f.Error = errNoTools.Error()
	} else if bad != nil {
		f.Error = errNotJSON.Error()
	} else if content, err := r.o.Call(r.ctx, m.Tool, m.Args); err != nil {
		f.Error = err.Error()
	} else {
		f.Content, f.Note = cutHead(content, r.limits.FileBytes)
	}
	r.keepText(f)
}

// cutHead is at most n bytes of a text, with a note when there is more.
func cutHead(s string, n int64) (out, note string) {
	if int64(len(s)) <= n {
		return s, ""
	}
	out = dropPartial(s[:n])
	return out, fmt.Sprintf("cut: the first %d of %d bytes", len(out), len(s))
}

// resolveFile reads what a path names, and follows its marks if it is Markdown.
func (r *resolver) resolveFile(m Mark, within *openedFile) {
	near := ""
	if within != nil {
		near = within.folder
	}
	file, m, err := r.openAs(m, near)
	if err != nil {
		if r.namesNothing(m, err) {
			return
		}
		f := refuseMark(m, err)
		if within != nil {
			f.Error += ", named in " + within.source
		}
		if r.isFirst("error " + m.Text) {
			r.found = append(r.found, f)
		}
		return
	}
	defer file.Close()
	if r.isCircular(file.Source, m) {
		return
	}
	f := Found{Reference: scrollback.Reference{Mark: m.Text, Source: file.Source + rangeSuffix(m), Kind: m.Kind}}
	if !r.isFirst(f.Source) {
		return
	}
	if file.Dir {
		r.listFolder(&f, m, file)
	} else {
		r.readText(&f, m, file)
	}
	switch f.Kind {
	case "": // an image that is there already
		return
	case scrollback.ReferenceImage:
		r.found = append(r.found, f)
		return
	}
	r.keepText(f)
	if f = r.found[len(r.found)-1]; f.Error == "" && f.Language == markdown {
		r.followFile(openedFile{file.Source, file.Folder, len(r.found) - 1})
	}
}

// namesNothing reports whether a mark without brackets names nothing, and so is none.
func (r *resolver) namesNothing(m Mark, err error) bool { return m.bare && !workspace.IsNameError(err) }

// openAs opens what a mark names: the file with the whole name, else the one in front of
// the lines, else, without brackets, a shorter name.
func (r *resolver) openAs(m Mark, near string) (*workspace.File, Mark, error) {
	names := []string{m.Text}
	if m.bare {
		names = shorterNames(m.Text)
	} else if trimmed := strings.TrimSpace(m.Text); trimmed != m.Text {
		names = append(names, trimmed)
	}
	var first error
	for _, name := range names {
		for _, try := range nameReadings(name) {
			file, err := r.folders.Open(try.Path, near)
			if err == nil {
				m.Text = name
				m.Path = try.Path
				m.First = try.First
				m.Last = try.Last
				return file, m, nil
			}
			// What is said is why the last reading, the shortest path, cannot be read.
			if first == nil || !workspace.IsNameError(first) {
				first = err
			}
		}
	}
	return nil, m, first
}

// nameReadings returns what a name with numbers behind it may mean: all of it a path, or a part.
func nameReadings(name string) []Mark {
	out := []Mark{{Path: name}}
	p, first, last := splitLines(name)
	if first == 0 {
		return out
	}
	if last > 0 {
		out = append(out, Mark{Path: fmt.Sprintf("%s:%d", p, first), First: last})
	}
	return append(out, Mark{Path: p, First: first, Last: last})
}

// rangeSuffix returns how a source says which lines it has.
func rangeSuffix(m Mark) string {
	switch {
	case m.First == 0:
		return ""
	case m.Last == 0:
		return fmt.Sprintf(":%d", m.First)
	}
	return fmt.Sprintf(":%d:%d", m.First, m.Last)
}

// isCircular reports whether a file is one whose marks are being followed, and notes it with
// the file whose mark leads back.
func (r *resolver) isCircular(source string, m Mark) bool {
	for _, o := range r.open {
		if o.source == source {
			f := &r.found[r.open[len(r.open)-1].found]
			f.Note = joinNotes(f.Note, fmt.Sprintf("a circle: @[%s] leads back to %s and is not followed", m.Text, source))
			return true
		}
	}
	return false
}

func joinNotes(note, more string) string {
	if note == "" {
		return more
	}
	if strings.Contains(note, more) {
		return note
	}
	return note + "; " + more
}

// followFile follows the marks of a Markdown file.
func (r *resolver) followFile(o openedFile) {
	marks := Parse(r.found[o.found].Content, false)
	if len(marks) == 0 {
		return
	}
	if len(r.open) >= r.limits.Depth {
		r.found[o.found].Note = joinNotes(r.found[o.found].Note,
			fmt.Sprintf("its own references are not followed: more than %d deep", r.limits.Depth))
		return
	}
	r.open = append(r.open, o)
	r.resolveAll(marks, &o)
	r.open = r.open[:len(r.open)-1]
}
