package cell

import (
	"encoding/base64"
	"strings"
)

const attachment = "attachment:"

// imagePlace is an image mark in a text: ![Alt](URL).
type imagePlace struct {
	From, To int
	Alt, URL string
}

// findPlaces finds the image marks of a text.
func findPlaces(s string) (out []imagePlace) {
	for done, at := 0, 0; ; {
		i := strings.Index(s[at:], "](")
		if i < 0 {
			return out
		}
		i += at
		from := strings.LastIndex(s[done:i], "![")
		since := done
		at = i + 2
		done = i + 2
		if from < 0 || strings.Contains(s[since+from+2:i], "]") {
			continue
		}
		from += since
		to := strings.IndexAny(s[at:], ") \t\r\n([")
		if to < 0 {
			return out
		}
		if s[at+to] != ')' || to == 0 {
			continue
		}
		out = append(out, imagePlace{from, at + to + 1, s[from+2 : i], s[at : at+to]})
		at += to + 1
		done = at
	}
}

// ImageMark returns an image mark.
func ImageMark(alt, address string) string {
	alt = strings.NewReplacer("[", "(", "]", ")", "\n", " ", "\r", " ").Replace(alt)
	if alt == "" {
		alt = "image"
	}
	return "![" + alt + "](" + address + ")"
}

// decodeDataURL returns the image that a data: URL holds.
func decodeDataURL(address string) (mediaType string, b []byte, ok bool) {
	head, data, found := strings.Cut(address, ",")
	kind, isData := strings.CutPrefix(head, "data:image/")
	if !found || !isData || !strings.HasSuffix(kind, ";base64") {
		return "", nil, false
	}
	b, err := base64.StdEncoding.DecodeString(data)
	mediaType, ok = SniffImage(b)
	return mediaType, b, err == nil && ok
}

// SniffImage returns the type of an image by how it begins. What is none of those that models look at
// is not an image: what it stands in remains a text.
func SniffImage(b []byte) (mediaType string, ok bool) {
	s := string(b[:min(len(b), 12)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return "image/png", true
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return "image/jpeg", true
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return "image/gif", true
	case len(s) == 12 && s[:4] == "RIFF" && s[8:] == "WEBP":
		return "image/webp", true
	}
	return "", false
}
