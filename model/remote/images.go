package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/gif" // so that a broken one is found
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
)

// WithoutRefusedImages returns a request with the images that its server is known to take: those it refuses are
// named by a text in their place, and of more than it takes the newest are shown. Every
// client plans its exchange with it.
func WithoutRefusedImages(r model.Request, known scrollback.Learned) model.Request {
	if known.MaxImages == 0 && len(known.NoMedia) == 0 && len(known.NoImages) == 0 {
		return r
	}
	left := known.MaxImages
	r.Items = slices.Clone(r.Items)
	for i := len(r.Items) - 1; i >= 0; i-- {
		parts := r.Items[i].Parts
		copied := false
		for j := len(parts) - 1; j >= 0; j-- {
			p, ok := parts[j].(scrollback.Image)
			if !ok {
				continue
			}
			refused := slices.Contains(known.NoMedia, strings.ToLower(p.MediaType)) ||
				slices.Contains(known.NoImages, imageMark(p))
			if !refused && (known.MaxImages == 0 || left > 0) {
				left--
				continue
			}
			if !copied {
				parts = slices.Clone(parts)
				copied = true
			}
			parts[j] = scrollback.Text{Text: fmt.Sprintf("[image: %s, %s]", p.Name, p.Location())}
		}
		r.Items[i].Parts = parts
	}
	return r
}

// imageMark names an image among those that were refused, without saying what it is.
func imageMark(p scrollback.Image) string {
	sum := sha256.Sum256([]byte(p.Location()))
	return hex.EncodeToString(sum[:12])
}

// requestImages are the images of a request, the oldest first, and how to read them.
type requestImages struct {
	images []scrollback.Image
	fresh  int // how many of them were never part of a request that was answered
	bytes  func(p scrollback.Image) []byte
}

func listImages(ctx context.Context, r model.Request) *requestImages {
	g := &requestImages{bytes: func(p scrollback.Image) []byte {
		if p.URL != "" || r.Bytes == nil {
			return nil
		}
		b, err := r.Bytes(ctx, p.Artifact)
		if err != nil {
			return nil // what cannot be read is not judged
		}
		return b
	}}
	if r.Bytes == nil {
		return g
	}
	for _, it := range r.Items {
		if it.Role == scrollback.RoleAssistant {
			g.fresh = 0
		}
		for _, p := range it.Parts {
			if p, ok := p.(scrollback.Image); ok {
				g.images = append(g.images, p)
				g.fresh++
			}
		}
	}
	return g
}

var (
	imageWords = lazyregexp.New(`\bimages?\b|\bpictures?\b|\bphotos?\b|image_url|image/|\bgifs?\b|\bwebp\b|\baspect ratio\b|\b(?:height|width) (?:or|and) (?:height|width)\b|\bpixels\b|\bmultimodal\b|\bmedia (?:data|type)|媒体类型|图片|图像`)
	badWords   = lazyregexp.New(`\b(?:in|un)(?:valid|supported|readable|recogni[sz]ed|known|processable)\b|\bnot (?:[a-z]+ ){0,2}(?:a )?(?:valid|match)\b|\bnot (?:be )?(?:supported|valid|allowed|processed?|accepted|decoded?|opened|read|a valid|identif\w+)|n't support|does not support|` +
		`\b(?:could not|cannot|can't|unable to|fail(?:ed|s|ure)?(?: to)?)\b|\bcorrupt|\btruncated\b|\bbroken\b|\bmalformed\b|\bmust be\b|\bshould be\b|\bonly\b|\bexceed|\btoo (?:large|big|small|long)\b|\blarger than\b|\bsmaller than\b|不支持|无效|格式|过大|超过`)
	countWords = lazyregexp.New(`\bat most\b|\btoo many\b|\bmax(?:imum|imal)?\b|\bup to\b|\bno more than\b|\bmore than\b|\bonly (?:supports?|one|a single|\d)|\blimit|\bexceed|\bmultiple\b|\d ?> ?\d|\bthan supported\b|\bnumber of\b|\bcount\b|\ballowed\b|一张|最多|超过`)
	manyWords  = lazyregexp.New(`\bimages\b|image\(s\)|\bpictures\b|\bphotos\b|\bimage (?:count|inputs?|parts?)\b|\b(?:image|picture|photo) (?:limit|per)\b|\bone image\b|\bsingle image\b|\bimage_urls?\b|图片|图像`)
	otherSize  = lazyregexp.New(`\bpixels?\b|\bpx\b|\bdimensions?\b|\bbytes?\b|\d ?[kmg]i?b\b|\bwidth\b|\bheight\b|\bresolution\b|\bimage size\b|\bsize of\b|\btokens?\b|\bformats?\b|\btypes?\b`)
	pixelBound = lazyregexp.New(`(\d{3,6}) ?(?:pixels?|px)\b|\b(?:pixels?|px):? (\d{3,6})\b|(\d{3,6}) ?[x×*] ?\d{3,6}`)
	sizeSigns  = lazyregexp.New(`\bpixels?\b|\bdimensions?\b|\bbytes?\b|\d ?[kmg]i?b\b|\btoo (?:large|big)\b|\bresolution\b|过大`)
	tornSigns  = lazyregexp.New(`\b(?:decod|pars|truncated|corrupt|broken|incomplete)`)
	mediaNames = lazyregexp.New(`\b(?:image/)?(gif|webp|bmp|tiff?|heic|heif|avif|svg(?:\+xml)?|jpe?g|png|ico)s?\b`)
	refusing   = lazyregexp.New(`\b(?:not|n't|un) ?supported\b|\bunsupported\b|n't support\b|not support\b|不支持`)
	allowing   = lazyregexp.New(`\bsupport(?:s|ed)?\b|\bfollowing\b|\bonly\b|\bmust be\b|\bshould be\b|\bone of\b|\ballowed\b|\baccept(?:s|ed)?\b|\bvalid\b|\buse\b|支持|仅`)
	noPart     = lazyregexp.New("unknown variant|expected .?.?(?:text|string)|unrecogni[sz]ed|extra (?:inputs|fields)|not permitted|unknown (?:field|parameter|type|part)|" +
		"(?:unsupported|invalid) (?:content|message|part)|content type|content does not match|(?:image_url|input_image|images?['\"`]?) (?:is|are) not (?:[a-z]+ )?(?:support|allow|permit|accept|avail|enabl|implement|one of)|must be (?:a )?(?:text|string)")
	figures = lazyregexp.New(`(?:^|[^\w.\-])(\d{1,4})\b(?:[^\w.]|\.\D|\.?$)`)
)

// imageLesson recognises what a server says about the images of a request: that there are
// too many, that a type of them is not taken, or that one is broken, too large or too odd.
// Which one it means it seldom says: those that no answer has followed yet are suspected
// first, and of them those that are not what they claim to be. images is the parameter that
// images are sent in, if they can be left out.
func imageLesson(p Problem, words string, g *requestImages, images string) *model.Lesson {
	if g == nil || len(g.images) == 0 || sightless().MatchString(words) && !badImage().MatchString(p.Code) &&
		!strings.Contains(words, "multiple images") {
		return nil
	}
	switch {
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusPaymentRequired, p.Status == http.StatusForbidden,
		p.Status == http.StatusNotFound,
		p.Status == http.StatusTooManyRequests, p.Status >= 500, p.Status > 0 && p.Status < 400:
		return nil
	}
	if n, ok := readMaxImages(words, len(g.images)); ok {
		if n == 0 {
			return &model.Lesson{Drop: images}
		}
		return &model.Lesson{MaxImages: n}
	}
	about := imageWords().MatchString(strings.ReplaceAll(p.Param, "_", " ")) || imageWords().MatchString(words) ||
		badImage().MatchString(p.Code)
	if !about || !badWords().MatchString(words) && !badImage().MatchString(p.Code) {
		return nil
	}
	if types := refusedMedia(words, g.images); len(types) > 0 {
		return &model.Lesson{NoMedia: strings.Join(types, " ")}
	}
	if noPart().MatchString(words) && !badImage().MatchString(p.Code) { // no image at all is taken
		return nil
	}
	suspects := g.likelyImages(words)
	if len(suspects) == 0 {
		return nil
	}
	marks := make([]string, len(suspects))
	for i, s := range suspects {
		marks[i] = imageMark(s)
	}
	slices.Sort(marks)
	return &model.Lesson{NoImages: strings.Join(slices.Compact(marks), " ")}
}

// nothingSaid are words that only say that something is wrong with a request.
var nothingSaid = lazyregexp.New(`^(?:<?\d{3}>? ?)?(?:[a-z_ ]*: ?)?(?:(?:the |your )?request contains an |an? )?(?:invalid|bad|malformed|illegal)[ _](?:argument|request|input|data|content|value)s?(?:[ _]error)?[.!]?$|` +
	`^.{0,40}\bprocess(?:ed|ing)?\b.{0,40}$|^.{0,8}$`)

// unexplainedLesson returns the images that a refusal may be about that does not say what it is about: those
// that are not what they claim to be.
func unexplainedLesson(p Problem, words string, g *requestImages) *model.Lesson {
	if g == nil || p.Param != "" || !nothingSaid().MatchString(strings.TrimSpace(words)) {
		return nil
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
	default:
		return nil
	}
	var marks []string
	for _, image := range g.images {
		if b := g.bytes(image); b != nil && !isIntact(image, b) {
			marks = append(marks, imageMark(image))
		}
	}
	if len(marks) == 0 {
		return nil
	}
	slices.Sort(marks)
	return &model.Lesson{NoImages: strings.Join(slices.Compact(marks), " ")}
}

// readMaxImages reads how many images a server takes, from a sentence that says that more than
// that were sent. One that says no figure may take half of them.
func readMaxImages(words string, sent int) (n int, ok bool) {
	half := 0
	for _, s := range sentenceEnd().Split(words, -1) {
		if !manyWords().MatchString(s) || !countWords().MatchString(s) || otherSize().MatchString(s) {
			continue
		}
		found := figures().FindAllStringSubmatch(s, -1)
		for _, f := range found {
			if k, err := strconv.Atoi(f[1]); err == nil && k < sent && (k > 0 || len(found) == 1) && (!ok || k < n) {
				n = k
				ok = true
			}
		}
		if ok {
			return n, true
		}
		switch {
		case strings.Contains(s, "one image"), strings.Contains(s, "single image"), strings.Contains(s, "multiple images"),
			strings.Contains(s, "一张"):
			half = 1
		case half == 0 && (strings.Contains(s, "too many") || strings.Contains(s, "exceed") || strings.Contains(s, "超过")):
			half = sent / 2
		}
	}
	return half, half > 0 && sent > 1
}

// refusedMedia returns which types of the images a server refuses: those it names as refused, or
// all that are not among those it names as taken.
func refusedMedia(words string, images []scrollback.Image) []string {
	if strings.Contains(words, "not match") { // the type is taken, and something else is called by it
		return nil
	}
	words = refusing().ReplaceAllString(words, "~")
	split := len(words)
	if at := allowing().FindStringIndex(words); at != nil {
		split = at[0]
	}
	named := func(text string) (types []string) {
		for _, m := range mediaNames().FindAllStringSubmatch(text, -1) {
			types = append(types, mediaType(m[1]))
		}
		return types
	}
	refused := named(words[:split])
	taken := named(words[split:])
	if len(refused) > 1 && len(taken) == 0 && !strings.Contains(words, "~") { // a list, most likely of what is taken
		refused, taken = nil, refused
	}
	var out []string
	for _, p := range images {
		t := strings.ToLower(p.MediaType)
		if t == "" || slices.Contains(out, t) {
			continue
		}
		if slices.Contains(refused, mediaType(t)) && !slices.Contains(taken, mediaType(t)) ||
			len(taken) > 0 && !slices.Contains(taken, mediaType(t)) {
			out = append(out, t)
		}
	}
	return out
}

// mediaType brings the names of one type together.
func mediaType(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "image/"), "+xml")
	switch name {
	case "jpg":
		return "jpeg"
	case "tif":
		return "tiff"
	}
	return name
}

// likelyImages returns the images that a refusal is most likely about.
func (g *requestImages) likelyImages(words string) []scrollback.Image {
	fresh := g.images[len(g.images)-min(g.fresh, len(g.images)):]
	if sizeSigns().MatchString(words) && !tornSigns().MatchString(words) {
		if over := largestImages(g.images, words); len(over) > 0 {
			return over
		}
	}
	for _, among := range [][]scrollback.Image{fresh, g.images} {
		var odd []scrollback.Image
		for _, p := range among {
			if b := g.bytes(p); b != nil && !isIntact(p, b) {
				odd = append(odd, p)
			}
		}
		if len(odd) > 0 {
			return odd
		}
	}
	if len(fresh) > 0 {
		return fresh
	}
	return g.images
}

// largestImages returns the images over the bound in pixels that words name, or else the largest one.
func largestImages(images []scrollback.Image, words string) (over []scrollback.Image) {
	if m := pixelBound().FindStringSubmatch(words); m != nil {
		most, _ := strconv.Atoi(m[1] + m[2] + m[3]) // digits of one group
		for _, p := range images {
			if max(p.Width, p.Height) > most {
				over = append(over, p)
			}
		}
		return over
	}
	most := slices.MaxFunc(images, func(a, b scrollback.Image) int { return int(a.Size - b.Size) })
	return []scrollback.Image{most}
}

// isIntact reports whether an image is what it claims to be, as far as that can be told from its
// head and its end.
func isIntact(p scrollback.Image, b []byte) bool {
	kind := http.DetectContentType(b)
	if mediaType(kind) != mediaType(strings.ToLower(p.MediaType)) {
		return false
	}
	switch kind {
	case "image/png":
		if !bytes.Contains(b[max(0, len(b)-64):], []byte("IEND")) {
			return false
		}
	case "image/jpeg":
		if !bytes.Contains(b[max(0, len(b)-4096):], []byte{0xff, 0xd9}) {
			return false
		}
	case "image/gif":
	default:
		return kind == "image/webp"
	}
	_, _, err := image.DecodeConfig(bytes.NewReader(b))
	return err == nil
}
