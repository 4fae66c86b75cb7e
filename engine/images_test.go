package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

const cat, gone = "https://pictures.example/cat.png?size=full", "https://gone.example/cat.png"

// onWire is how an address of an image goes to each server that does not take it as chat completions do; empty
// where it goes as words, because the server fetches none.
var onWire = map[string]string{
	"openai": `"image_url":"%s"`, "xai": `"image_url":"%s"`, "anthropic": `"source":{"type":"url","url":"%s"}`,
	"deepseek": "", "moonshot": "", "lmstudio": "", "gemini": "", "ollama": "",
}

const chatForm = `"image_url":{"url":"%s","detail":"high"}`

// Each provider gets an image by its bytes and one by its address, or the address as words
// where its server fetches none; an address at which there is nothing stops nobody.
func TestImagesOnEveryPreset(t *testing.T) {
	for _, p := range all.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			s := serve(t, p.Name, 1<<20, env)
			r := enginetest.New(t, enginetest.Options{Models: finds(env), RemoteImages: true})
			c, _, err := r.Create(context.Background(), scrollback.Conversation{Model: s.name, Limit: 32_000,
				Settings: scrollback.Settings{ReasoningEffort: efforts[p.Name]}})
			if err != nil {
				t.Fatal(err)
			}
			inline := r.UploadImage(c.ID, 7).(scrollback.Image)
			inline.Detail = "low"
			ended(r, engine.TurnRequest{Conversation: c.ID, Message: append(enginetest.Say("Which is the cat?"), inline,
				scrollback.Image{URL: cat, Name: "cat.png", Detail: "high"})})
			asked := s.line.asked()
			body := string(asked[len(asked)-1].body)
			form, isListed := onWire[p.Name]
			if !isListed {
				form = chatForm
			}
			fetches := form != ""
			if want := fmt.Sprintf(form, cat); fetches && !strings.Contains(body, want) {
				t.Errorf("%s is not in the request: %.3000s", want, body)
			}
			if words := "cat.png, " + cat + "]"; !fetches && !strings.Contains(body, words) {
				t.Errorf("the address is not told in words: %.3000s", body)
			}
			if shown := strings.Contains(body, "iVBORw0KGgo"); shown != (p.Name != "deepseek") {
				t.Errorf("the bytes of an image are sent: %v", shown)
			}
			may := taught[p.Name]
			for range 2 {
				ended(r, engine.TurnRequest{Conversation: c.ID,
					Message: append(enginetest.Say("And here?"), scrollback.Image{URL: gone})})
				if fetches {
					may = append(slices.Clone(may), "image-gone")
				}
			}
			s.refused(t, may...)
		})
	}
}

// Addresses of images are for those who may send them, and have to be addresses.
func TestAddressesOfImages(t *testing.T) {
	for _, c := range []struct {
		remote bool
		image  scrollback.Image
		want   string
	}{
		{false, scrollback.Image{URL: cat}, "not allowed"},
		{true, scrollback.Image{URL: cat, Artifact: "a"}, "not both"},
		{true, scrollback.Image{URL: "file:///etc/passwd"}, "http or https"},
		{true, scrollback.Image{URL: "https://me:secret@pictures.example/"}, "without a password"},
		{true, scrollback.Image{URL: "https://pictures.example/" + strings.Repeat("a", 3000)}, "at most 2048 characters"},
		{true, scrollback.Image{URL: cat, Detail: "best"}, "low, high or auto"},
	} {
		r := enginetest.New(t, enginetest.Options{RemoteImages: c.remote}, modeltest.Say("I see."))
		id := r.NewConversation()
		got := r.Run(engine.TurnRequest{Conversation: id, Message: append(enginetest.Say("look"), c.image)})
		if scrollback.CodeOf(got.Err) != scrollback.Invalid || !strings.Contains(scrollback.PublicMessage(got.Err), c.want) ||
			len(r.Log(id)) > 0 {
			t.Errorf("%+v: %v, want %q", c.image, got.Err, c.want)
		}
	}
}

// uploaded returns an uploaded image of a number of pixels.
func uploaded(r *enginetest.Rig, id scrollback.ConversationID, name string, w, h int) scrollback.Image {
	r.T.Helper()
	a, err := r.Upload(context.Background(), id, bytes.NewReader(drawn(r.T, w, h)), name)
	if err != nil {
		r.T.Fatal(err)
	}
	return scrollback.Image{Artifact: a.ID, Name: name, Detail: "high"}
}

func drawn(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	img.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An uploaded image that is larger than models look at is sent smaller: the person and the
// model are told, the original stays, and two equal ones are one artifact.
func TestLargeUploads(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{Limit: 32_000}, modeltest.Say("I see."))
	id := r.NewConversation()
	big := uploaded(r, id, "wall.jpg", 4000, 1000)
	got := r.Run(engine.TurnRequest{Conversation: id,
		Message: append(enginetest.Say("look"), big, big, uploaded(r, id, "", 30, 20))})
	got.WantDone(t, scrollback.TurnComplete, "stop")
	ms := r.Log(id)
	parts := ms[0].Parts
	if len(parts) != 6 || ms[0].Weight.Images != 3 {
		t.Fatalf("it is stored as %+v", parts)
	}
	first := parts[1].(scrollback.Image)
	second := parts[2].(scrollback.Image)
	small := parts[3].(scrollback.Image)
	if first.Artifact == big.Artifact || first.Artifact != second.Artifact || first.Width != 2000 || first.Height != 500 ||
		first.MediaType != "image/png" || first.Name != "wall.jpg" || first.Detail != "high" ||
		small.Width != 30 || small.MediaType != "image/png" {
		t.Errorf("the images are %+v, %+v and %+v", first, second, small)
	}
	meta, _ := enginetest.Last[scrollback.MetaEvent](got)
	const note = "4000×1000 scaled to 2000×500; the original is artifact:"
	if len(meta.References) != 2 || meta.References[0].Source != "wall.jpg" ||
		!strings.HasPrefix(meta.References[0].Note, note) {
		t.Errorf("the person is told %+v", meta.References)
	}
	if text := parts[4].(scrollback.Text).Text; !strings.HasPrefix(text, "[image wall.jpg; "+note) {
		t.Errorf("the model is told %q", text)
	}
	for _, id := range []scrollback.ArtifactID{big.Artifact, first.Artifact, small.Artifact} {
		f, size, err := r.Archive.OpenArtifact(context.Background(), id)
		if err != nil || size == 0 {
			t.Fatalf("%s: %d bytes, %v", id, size, err)
		}
		_ = f.Close()
	}
}

// What is uploaded under the name of an image and is none, or is broken, or would take all
// memory, is refused before anything is stored of the message.
func TestUploadsThatAreNoImages(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("I see."))
	id := r.NewConversation()
	bomb := bytes.Replace(drawn(t, 9, 9), []byte("IHDR\x00\x00\x00\x09\x00\x00\x00\x09"),
		[]byte("IHDR\x00\x00\xea\x60\x00\x00\xea\x60"), 1)
	for want, b := range map[string][]byte{
		"image cat.png: not an image: it is text/plain":                       []byte("meow"),
		"image cat.png: the image is damaged: it ends too early":              drawn(t, 99, 99)[:60],
		"image cat.png: the image claims 60000×60000 pixels; at most 50 mill": bomb,
	} {
		a, err := r.Upload(context.Background(), id, bytes.NewReader(b), "cat.png")
		if err != nil {
			t.Fatal(err)
		}
		said := append(enginetest.Say("look"), scrollback.Image{Artifact: a.ID, Name: "cat.png"})
		got := r.Run(engine.TurnRequest{Conversation: id, Message: said})
		if scrollback.CodeOf(got.Err) != scrollback.Invalid || !strings.HasPrefix(scrollback.PublicMessage(got.Err), want) ||
			len(r.Log(id)) > 0 {
			t.Errorf("%v, want %q", got.Err, want)
		}
	}
}

// Images that a prompt names stand behind it, by what they are and not by their names;
// what cannot be shown says why.
func TestNamedImages(t *testing.T) {
	d := newDesk(t, enginetest.Options{Limit: 32_000}, modeltest.Say("I see."))
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 3000, 300)), nil); err != nil {
		t.Fatal(err)
	}
	d.write("photo.png", photo.String())
	d.write("note.jpg", "not a picture")
	d.write("half.png", string(drawn(t, 50, 50)[:50]))
	data := "data:image/gif;base64," + base64.StdEncoding.EncodeToString(drawn(t, 3, 2))
	said := "See ![the wall](photo.png), ![](note.jpg), @[half.png], ![tiny](" + data +
		") and ![far](https://pictures.example/cat.png)."
	got := d.Ask(d.id, said)
	got.WantDone(t, scrollback.TurnComplete, "stop")
	parts := d.Log(d.id)[0].Parts
	if parts.Text() != strings.Replace(said, "![tiny]("+data+")", "tiny", 1) {
		t.Errorf("the prompt became %q", parts.Text())
	}
	var images []scrollback.Image
	for _, p := range parts {
		if i, ok := p.(scrollback.Image); ok {
			images = append(images, i)
		}
	}
	if len(images) != 2 || images[0].MediaType != "image/jpeg" || images[0].Width != 2000 ||
		images[0].Name != "photo.png" ||
		images[1].MediaType != "image/png" || images[1].Width != 3 || images[1].Name != "" {
		t.Errorf("the images are %+v", images)
	}
	refs := d.references()
	if len(refs) != 5 || refs[0].Note != "3000×300 scaled to 2000×200" ||
		!strings.HasPrefix(refs[1].Error, "not an image: it is text/plain") ||
		refs[2].Error != "the image is damaged: it ends too early" || refs[3].Error != "" || refs[4].Error == "" {
		t.Errorf("the person is told %+v", refs)
	}
	d.Ask(d.id, "Once more ![the wall](photo.png)").WantDone(t, scrollback.TurnComplete, "stop")
	if again := d.references(); len(again) != 1 || again[0].SameAs != 1 {
		t.Errorf("an unchanged image is sent again: %+v", again)
	}
	allowed := newDesk(t, enginetest.Options{Limit: 32_000, RemoteImages: true}, modeltest.Say("I see."))
	allowed.Ask(allowed.id, "See ![far]("+cat+") and ![](https://me:secret@pictures.example/)").WantDone(t,
		scrollback.TurnComplete, "stop")
	parts = allowed.Log(allowed.id)[0].Parts
	if i, ok := parts[2].(scrollback.Image); !ok || i.URL != cat || i.Name != "cat.png" || i.Artifact != "" {
		t.Errorf("an image far away is %+v", parts)
	}
	if refs := allowed.references(); len(refs) != 2 || refs[0].Error != "" ||
		!strings.HasPrefix(refs[1].Error, "refused: ") {
		t.Errorf("the person is told %+v", refs)
	}
}
