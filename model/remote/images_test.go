package remote_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// pictures returns an old png, an old gif, and behind an answer a broken png and a good one.
func pictures() model.Request {
	var good bytes.Buffer
	_ = png.Encode(&good, image.NewGray(image.Rect(0, 0, 3000, 1))) // a buffer does not fail
	files := map[scrollback.ArtifactID][]byte{"old": good.Bytes(), "gif": []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"torn": good.Bytes()[:40], "new": good.Bytes()}
	user := func(parts ...scrollback.Part) scrollback.Item {
		return scrollback.Item{Role: scrollback.RoleUser, Parts: parts}
	}
	picture := func(id scrollback.ArtifactID, mediaType string, width int) scrollback.Part {
		return scrollback.Image{Artifact: id, MediaType: mediaType, Name: string(id), Width: width, Height: 1,
			Size: int64(len(files[id]))}
	}
	return model.Request{
		Items: []scrollback.Item{
			user(picture("old", "image/png", 3000), picture("gif", "image/gif", 1)),
			{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{scrollback.Text{Text: "I see"}}},
			user(scrollback.Text{Text: "look"}, picture("torn", "image/png", 10), picture("new", "image/png", 10)),
		},
		Bytes: func(_ context.Context, id scrollback.ArtifactID) ([]byte, error) {
			if b, ok := files[id]; ok {
				return b, nil
			}
			return nil, errors.New("no such image")
		},
	}
}

// sees returns the images that a request shows.
func sees(r model.Request) (names []string) {
	for _, it := range r.Items {
		for _, p := range it.Parts {
			if p, ok := p.(scrollback.Image); ok {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// What a server says about images is learned from one refusal, whatever its words: what it
// takes is shown at once, and from then on.
func TestImagesThatAreRefused(t *testing.T) {
	for words, want := range map[string]string{
		"At most 1 image(s) may be provided in one request.":                                                "new",
		"at most 2 image(s) may be provided in one prompt":                                                  "torn new",
		"Too many images provided. This model supports up to 3 images":                                      "gif torn new",
		"Total images: 4, max allowed: 2.":                                                                  "torn new",
		"too many images and documents: 4 + 0 > 3":                                                          "gif torn new",
		"Too many images in the request":                                                                    "torn new",
		"The request exceeds the maximum number of images (1)":                                              "new",
		"this model only supports a single image":                                                           "new",
		"Unsupported image format: image/gif":                                                               "old torn new",
		"Unsupported content-type image/gif. Only jpg/jpeg and png images are accepted":                     "old torn new",
		"You uploaded an unsupported image. Please use one of: ['png', 'jpeg', 'webp']":                     "old torn new",
		"image/gif is not supported":                                                                        "old torn new",
		"You uploaded an unsupported image. Please use one of: ['png', 'jpeg', 'gif', 'webp']":              "old gif new",
		"Could not process image":                                                                           "old gif new",
		"Unable to process input image. Please retry":                                                       "old gif new",
		"Failed to decode image: image file is truncated (5 bytes not processed)":                           "old gif new",
		"At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels": "gif torn new",
		"multiple images are not supported":                                                                 "new",
		"Images: 4 > 2":                                                                                     "torn new",
		"maximum number of image inputs is 1":                                                               "new",
		"prompt contains more images than supported (1)":                                                    "new",
		"Llama 3.2 supports only one image per request. Found 4":                                            "new",
		"圖片數量超過限制，最多1張":                                                                                     "new",
		"The image data you provided does not represent a valid image. Try image/png, image/gif":            "old gif new",
		"messages.2.content.1: Image does not match the provided media type image/png":                      "old gif new",
		"Provided image is not valid.":                                                                      "old gif new",
		"height or width must be larger than 28":                                                            "old gif new",
		"absolute aspect ratio must be smaller than 200, got 3000.0":                                        "old gif new",
		"animated GIFs are not supported":                                                                   "old torn new",
		"Multimodal data is corrupted":                                                                      "old gif new",
		"Request contains an invalid argument.":                                                             "old gif new",
		"图片格式不支持":                                                                                           "old gif new",
	} {
		asked := 0
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked == 1 {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":{"message":` + strconv.Quote(words) + `}}`))
				return
			}
			good(w)
		})
		r := pictures()
		var shown model.Request
		var taught scrollback.Learned
		seen := func(d model.Delta) {
			if d.Lesson != nil {
				d.Lesson.LearnImages(&taught)
			}
		}
		for d, err := range client(remote.Options{}).Stream(t.Context(), r,
			func(known scrollback.Learned) (remote.Exchange, error) {
				shown = remote.WithoutRefusedImages(r, known)
				x := exchange(srv.URL)
				x.Body = sees(shown)
				return x, nil
			}) {
			if err != nil {
				t.Errorf("%s: %v", words, err)
			}
			seen(d)
		}
		if got := strings.Join(sees(shown), " "); got != want || asked != 2 {
			t.Errorf("%s: %q is shown after %d requests, want %q", words, got, asked, want)
		}
		if next := remote.WithoutRefusedImages(r, taught); !slices.Equal(sees(next), sees(shown)) {
			t.Errorf("%s: later %q is shown", words, sees(next))
		}
	}
}

// Refusals that are about something else, and images that are not sent, teach nothing of
// images; what is not shown is named.
func TestImagesThatAreNotRefused(t *testing.T) {
	for _, words := range []string{"temperature is not supported", "Invalid 'messages[0].name'",
		"the role tool is invalid",
		"the image service is overloaded",
		"messages: at least one message is required",
		"Invalid 'tools[0].name': only letters are allowed"} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":` + strconv.Quote(words) + `}}`))
		})
		x := exchange(srv.URL)
		x.Params = nil
		plan := func(scrollback.Learned) (remote.Exchange, error) { return x, nil }
		_, err := modeltest.Read(client(remote.Options{}).Stream(t.Context(), pictures(), plan))
		if l := model.LessonOf(err); err == nil || l != nil {
			t.Errorf("%s taught %+v (%v)", words, l, err)
		}
	}
	r := pictures()
	named, _ := remote.WithoutRefusedImages(r, scrollback.Learned{MaxImages: 1}).Items[0].Parts[0].(scrollback.Text)
	if named.Text != "[image: old, artifact:old]" || len(sees(r)) != 4 {
		t.Errorf("named as %q; of the request itself %q are left", named.Text, sees(r))
	}
}
