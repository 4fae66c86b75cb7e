package exported

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	_ "image/gif"  // to look at
	_ "image/jpeg" // to look at
	_ "image/png"  // to look at
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// MaxAsset bounds the bytes of an attachment.
const MaxAsset = 20 << 20

// maxPixels bounds what is taken for an image.
const maxPixels = 50_000_000

// Assets are the files beside a file of conversations.
type Assets struct {
	place transcript.Place
	own   string // the file itself
	names []foundAsset
	known bool
}

type foundAsset struct{ base, name string }

// FindFile returns the file whose base name begins with an id of the service's, and its bytes. If it
// is there and larger than [MaxAsset], or cannot be read, it has none.
func (a *Assets) FindFile(id string) (base string, b []byte, ok bool) {
	if !isID(id) {
		return "", nil, false
	}
	if !a.known {
		a.listFiles()
	}
	i, _ := slices.BinarySearchFunc(a.names, id, func(f foundAsset, id string) int { return strings.Compare(f.base, id) })
	for ; i < len(a.names) && strings.HasPrefix(a.names[i].base, id); i++ {
		rest := a.names[i].base[len(id):]
		if rest != "" && strings.ContainsRune(letters, rune(rest[0])) {
			continue // of another one
		}
		b, ok := a.readFile(a.names[i].name)
		if !ok {
			b = nil
		}
		return a.names[i].base, b, true
	}
	return "", nil, false
}

// isID reports whether an id is one that services give to files: a UUID, or file- and more
// letters. Any other would let a conversation choose among what lies beside it.
func isID(id string) bool {
	for _, r := range id {
		if r != '-' && r != '_' && !strings.ContainsRune(letters, r) {
			return false
		}
	}
	return len(id) == 36 && strings.Count(id, "-") == 4 ||
		len(id) > 7 && (strings.HasPrefix(id, "file-") || strings.HasPrefix(id, "file_"))
}

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// listFiles lists what is below the folder of the file.
func (a *Assets) listFiles() {
	a.known = true
	below := a.place
	below.Name = path.Dir(a.own)
	for name := range walkFiles(context.Background(), below) {
		if name != a.own {
			a.names = append(a.names, foundAsset{path.Base(name), name})
		}
	}
	slices.SortFunc(a.names, func(x, y foundAsset) int {
		if c := strings.Compare(x.base, y.base); c != 0 {
			return c
		}
		return strings.Compare(x.name, y.name)
	})
}

func (a *Assets) readFile(name string) ([]byte, bool) {
	file, err := a.place.FS.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > MaxAsset {
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(file, MaxAsset+1))
	return b, err == nil && len(b) <= MaxAsset
}

// AttachFile adds an attachment to a message: an image if it is one, else a file.
func AttachFile(e *transcript.Entry, name string, b []byte) {
	if e.Bytes == nil {
		e.Bytes = map[int][]byte{}
	}
	e.Bytes[len(e.Message.Parts)] = b
	if mediaType, ok := imageType(b); ok {
		e.Message.Parts = append(e.Message.Parts, scrollback.Image{MediaType: mediaType, Name: name})
		return
	}
	e.Message.Parts = append(e.Message.Parts, scrollback.File{MediaType: fileType(name), Name: name})
}

// MentionMissing adds to a message that something was attached which is not in the export.
func MentionMissing(e *transcript.Entry, kind, name, why string) {
	text := "[" + kind
	if name != "" {
		text += " " + name
	}
	e.Message.Parts = append(e.Message.Parts, scrollback.Text{Text: text + ": " + why + "]"})
}

// NotThere and TooLarge are why something is only mentioned.
const (
	NotThere = "not in the export"
	TooLarge = "not read, it is too large or damaged"
)

// imageType returns the type of an image that models can look at.
func imageType(b []byte) (string, bool) {
	if len(b) > 16 && string(b[:4]) == "RIFF" && string(b[8:15]) == "WEBPVP8" {
		return "image/webp", true
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > maxPixels {
		return "", false
	}
	return "image/" + format, true
}

// fileTypes are the types of files by how their names end.
var fileTypes = map[string]string{
	".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv",
	".json": "application/json",
	".html": "text/html", ".wav": "audio/wav", ".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".mp4": "video/mp4",
	".svg": "image/svg+xml",
}

func fileType(name string) string {
	if t := fileTypes[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// DecodeDataURL returns what a data: URL holds, in base64 or as it is written.
func DecodeDataURL(address string) ([]byte, bool) {
	head, data, found := strings.Cut(address, ",")
	kind, isData := strings.CutPrefix(head, "data:")
	if !found || !isData || len(data) > MaxAsset/3*4+4 {
		return nil, false
	}
	if strings.HasSuffix(kind, ";base64") {
		b, err := base64.StdEncoding.DecodeString(data)
		return b, err == nil && len(b) > 0
	}
	text, err := url.PathUnescape(data)
	return []byte(text), err == nil && text != ""
}

// FilesBeside returns the files beside a file of a place.
func FilesBeside(p transcript.Place, name string) *Assets { return &Assets{place: p, own: name} }
