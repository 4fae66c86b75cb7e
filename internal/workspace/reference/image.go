package reference

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// scanImage reads ![alt](address "title") at i. The address may be in < and >, and may have
// spaces in it even without.
func (s *scanner) scanImage(i int) (*Mark, int) {
	end, ok := s.closing[i+1]
	if !ok || end+1 >= len(s.text) || s.text[end+1] != '(' {
		return nil, i
	}
	begin := end + 2
	to := closingParenthesis(s.text, begin)
	if to < 0 {
		return nil, i
	}
	address := strings.TrimSpace(title().ReplaceAllString(s.text[begin:to], ""))
	if inner, ok := strings.CutPrefix(address, "<"); ok {
		address = strings.TrimSuffix(inner, ">")
	}
	if address == "" || !isReadable(address) {
		return nil, to + 1
	}
	return &Mark{Text: s.text[i : to+1], Kind: scrollback.ReferenceImage, Path: address, Alt: s.text[i+2 : end]}, to + 1
}

var (
	title  = lazyregexp.New(`\s+("[^"\n]*"|'[^'\n]*'|\([^()\n]*\))\s*$`)
	scheme = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]+):`)
)

// isReadable reports whether an address is of a kind that can be read; others, such as
// attachment: and ftp:, stay text.
func isReadable(address string) bool {
	m := scheme().FindStringSubmatch(address)
	if m == nil {
		return len(address) <= maxName
	}
	switch strings.ToLower(m[1]) {
	case "data":
		return true
	case "file", "http", "https":
		return len(address) <= maxName
	}
	return false
}

// closingParenthesis returns the place of the parenthesis that closes the one in front of i, in its line,
// or -1. One in < and > or in quotes behind a space does not count.
func closingParenthesis(text string, i int) int {
	depth := 0
	until := byte(0)
	for ; i < len(text) && text[i] != '\n' && depth < maxParens; i++ {
		switch c := text[i]; {
		case until != 0:
			if c == until {
				until = 0
			} else if c == '<' && until == '>' {
				return -1
			}
		case c == '<' && text[i-1] == '(':
			until = '>'
		case (c == '"' || c == '\'') && (text[i-1] == ' ' || text[i-1] == '\t'):
			until = c
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return i
		case c == ')':
			depth--
		}
	}
	return -1
}

// resolveImage brings the image that a mark names.
func (r *resolver) resolveImage(m Mark) {
	f := Found{Reference: scrollback.Reference{Mark: m.Text, Source: m.Path, Kind: m.Kind}}
	kind := ""
	if s := scheme().FindStringSubmatch(m.Path); s != nil {
		kind = strings.ToLower(s[1])
	}
	switch kind {
	case "data":
		r.dataImage(&f, m)
	case "http", "https":
		switch {
		case !r.o.Remote:
			f.Error = errNoImages.Error()
		case !r.seen["image "+m.Path] && r.countImage(&f):
			f.URL = m.Path
		}
	default:
		r.pathImage(&f, m)
	}
	if r.isFirst("image " + f.Source) {
		r.found = append(r.found, f)
	}
}

// dataImage decodes a data URL. Its mark and source are shortened.
func (r *resolver) dataImage(f *Found, m Mark) {
	head, body, ok := strings.Cut(m.Path, ",")
	f.Mark = strings.Replace(m.Text, m.Path, clipAddress(head)+",…", 1)
	f.Source = clipAddress(head) + " " + hashContent([]byte(m.Path))[:16]
	if r.seen["image "+f.Source] {
		return
	}
	if !ok {
		f.Error = "not a data URL"
		return
	}
	if int64(len(body)) > r.limits.ImageBytes*2 {
		f.Error = fmt.Sprintf("too large: a data URL of %s, and an image has at most %s", formatBytes(int64(len(m.Path))),
			formatBytes(r.limits.ImageBytes))
		return
	}
	content, err := url.PathUnescape(body)
	if err == nil && strings.HasSuffix(strings.ToLower(head), ";base64") {
		var raw []byte
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(content), ""), "="))
		content = string(raw)
	}
	if err != nil {
		f.Error = "not a data URL"
		return
	}
	r.readImage(f, int64(len(content)), strings.NewReader(content))
}

func clipAddress(s string) string { return dropPartial(s[:min(len(s), 64)]) }

// pathImage reads the image at a path; one that is percent-encoded is tried as it is
// written first.
func (r *resolver) pathImage(f *Found, m Mark) {
	file, err := r.folders.Open(m.Path, "")
	if decoded, unescapeErr := url.PathUnescape(m.Path); err != nil && unescapeErr == nil && decoded != m.Path {
		if second, secondErr := r.folders.Open(decoded, ""); secondErr == nil {
			file = second
			err = nil
		}
	}
	if err != nil {
		f.Error = err.Error()
		return
	}
	defer file.Close()
	f.Source = file.Source
	if r.seen["image "+f.Source] {
		return
	}
	if file.Dir {
		f.Error = "not an image: a folder"
		return
	}
	r.readImage(f, file.Size, file)
}

// imageFile makes an image of a file that is one.
func (r *resolver) imageFile(f *Found, m Mark, size int64, in io.Reader) {
	f.Kind = scrollback.ReferenceImage
	if m.First > 0 {
		f.Error = "an image has no lines"
		return
	}
	if !r.isFirst("image " + f.Source) {
		f.Kind = ""
		return
	}
	r.readImage(f, size, in)
}

// readImage reads an image within the limits.
func (r *resolver) readImage(f *Found, size int64, in io.Reader) {
	if size > r.limits.ImageBytes {
		f.Error = fmt.Sprintf("too large: %s, and an image has at most %s", formatBytes(size),
			formatBytes(r.limits.ImageBytes))
		return
	}
	if r.shown+size > r.limits.ImagesSum {
		f.Error = fmt.Sprintf("left out: the images of a prompt have at most %s", formatBytes(r.limits.ImagesSum))
		return
	}
	if !r.countImage(f) {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(in, r.limits.ImageBytes+1))
	switch {
	case err != nil:
		f.Error = errUnreadable.Error()
	case len(raw) == 0:
		f.Error = "not an image: an empty file"
	case int64(len(raw)) > r.limits.ImageBytes: // it grew
		f.Error = fmt.Sprintf("too large: an image has at most %s", formatBytes(r.limits.ImageBytes))
	default:
		f.Image = raw
		f.Bytes = int64(len(raw))
		f.SHA256 = hashContent(raw)
		r.shown += f.Bytes
	}
}

// countImage counts an image, or refuses it.
func (r *resolver) countImage(f *Found) bool {
	if r.images >= r.limits.Images {
		f.Error = fmt.Sprintf("left out: the limit of images is %d", r.limits.Images)
		return false
	}
	r.images++
	return true
}

// isImage reports whether a file begins as an image that models take.
func isImage(start []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return true
		}
	}
	return len(start) >= 12 && string(start[:4]) == "RIFF" && string(start[8:12]) == "WEBP"
}
