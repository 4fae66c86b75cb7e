package intake

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake/picture"
)

// addressBytes is how long the address of an image may be.
const addressBytes = 2048

// checkImage returns an error unless an image may be sent as a message says.
func (l MessageLimits) checkImage(p scrollback.Image) error {
	const op = "intake.Check"
	switch p.Detail {
	case "", "low", "high", "auto":
	default:
		return scrollback.ParamErrorf(op, "message", i18n.ImageDetailIsOneOf, p.Detail)
	}
	if p.URL != "" && !l.RemoteImages {
		return scrollback.ParamErrorf(op, "message", i18n.ImageAddressesNotAllowed)
	}
	return checkAddress(p)
}

// checkAddress returns an error unless the address of an image, if it has one, is one that
// a server can be given. Imported messages may have them whether or not they may be sent:
// models get them only where that is allowed.
func checkAddress(p scrollback.Image) error {
	const op = "intake.Check"
	if p.URL == "" {
		return nil
	}
	at, err := url.Parse(p.URL)
	switch {
	case p.Artifact != "":
		return scrollback.ParamErrorf(op, "message", i18n.ImageHasArtifactOrAddress)
	case err != nil, at.Scheme != "http" && at.Scheme != "https", at.Host == "", at.User != nil, len(p.URL) > addressBytes:
		return scrollback.ParamErrorf(op, "message",
			i18n.ImageAddressInvalid, addressBytes)
	}
	return nil
}

// fillImages returns the parts of a message with its images filled in: those that a person
// uploaded are made small enough for models, and nil stands for each that is left out.
// Those attached as bytes stay as they are: they are small enough, or imported, and an
// import has to find its messages again.
func (a *admission) fillImages(ctx context.Context, ps scrollback.Parts) (scrollback.Parts, error) {
	ps = slices.Clone(ps)
	var kept int
	var left []string
	for i, p := range ps {
		part, ok := p.(scrollback.Image)
		if !ok {
			continue
		}
		uploaded := a.out.Role == scrollback.RoleUser && a.attached[i] == nil
		if uploaded && kept == a.Limits.Images {
			ps[i] = nil
			left = append(left, cmp.Or(clip.JoinLines(part.Name), part.Location()))
			continue
		}
		kept++
		var err error
		switch {
		case part.URL != "":
			if err = checkAddress(part); err == nil {
				part.Size = 0
				part.Width = 0
				part.Height = 0
				ps[i] = part
			}
		case uploaded:
			ps[i], err = a.fitImage(ctx, part)
		default:
			ps[i], err = a.describeImage(ctx, i, part)
		}
		if err != nil {
			return ps, err
		}
	}
	if len(left) > 0 {
		a.addNote(scrollback.Reference{Source: strings.Join(left, ", "),
			Note: fmt.Sprintf("left out, because a message takes at most %d images (limits.images)", a.Limits.Images)})
	}
	return ps, nil
}

// addNote adds what was done to an image: the person sees it as a reference, and the model
// as a text behind the message.
func (a *admission) addNote(r scrollback.Reference) {
	r.Kind = scrollback.ReferenceImage
	r.Source = clip.ClipLine(r.Source, 500)
	a.notes = append(a.notes, scrollback.Text{Text: referenceBlock(r, ""), Reference: &r})
}

// describeImage fills in what an image part says about its bytes, which stay as they are.
func (a *admission) describeImage(ctx context.Context, i int, p scrollback.Image) (scrollback.Part, error) {
	art, err := a.findArtifact(ctx, i, p.Artifact, p.Name)
	if err != nil {
		return p, err
	}
	p.Artifact = art.ID
	head, err := a.readHeader(ctx, i, art.ID)
	if err != nil {
		return p, err
	}
	p.Size = art.Size
	declared := p.MediaType
	p.MediaType, p.Width, p.Height, err = picture.Measure(head)
	if err != nil && a.attached[i] != nil { // imported: it costs the picture, and not what was said
		return scrollback.File{Artifact: art.ID, MediaType: cmp.Or(declared, "application/octet-stream"), Name: p.Name,
			Size: art.Size}, nil
	}
	return p, nameInError(p.Name, err)
}

// readHeader returns the beginning of the image that is part i.
func (a *admission) readHeader(ctx context.Context, i int, id scrollback.ArtifactID) ([]byte, error) {
	if b := a.attached[i]; b != nil {
		return b[:min(len(b), headerBytes)], nil
	}
	f, _, err := a.archive.OpenArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headerBytes))
	return head, scrollback.Wrap(scrollback.Unavailable, "intake", err)
}

// headerBytes is where the size of an image is looked for that stays as it is.
const headerBytes = 1 << 20

// fitImage fills in an image that was uploaded, or names a smaller one in its place.
func (a *admission) fitImage(ctx context.Context, p scrollback.Image) (scrollback.Part, error) {
	art, err := a.checkMentioned(ctx, p.Artifact)
	if err != nil {
		return p, err
	}
	f, size, err := a.archive.OpenArtifact(ctx, art.ID)
	if err != nil {
		return p, err
	}
	defer f.Close()
	if size > a.Limits.ArtifactBytes {
		return p, scrollback.ParamErrorf("intake", "message", i18n.ImageTooLarge,
			a.Limits.ArtifactBytes).WithReason(scrollback.ErrTooLarge)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return p, scrollback.Wrap(scrollback.Unavailable, "intake", err)
	}
	name := cmp.Or(p.Name, art.Name)
	fit, err := a.fitter.Fit(ctx, b)
	if err != nil {
		return p, nameInError(name, err)
	}
	if fit.Note == "" {
		p.MediaType = fit.MediaType
		p.Size = size
		p.Width = fit.Width
		p.Height = fit.Height
		return p, nil
	}
	a.addNote(scrollback.Reference{Source: cmp.Or(clip.JoinLines(name), "image"),
		Note: fit.Note + "; the original is " + string(scrollback.ArtifactRef(art.ID))})
	made, err := a.keepPicture(ctx, fit, name)
	made.Name = p.Name
	made.Detail = p.Detail
	made.Opaque = p.Opaque
	return made, err
}

// keepPicture stores what is kept of an image, which the message then mentions.
func (a *admission) keepPicture(ctx context.Context, fit picture.Picture, name string) (scrollback.Image, error) {
	id, size, err := a.put(ctx, bytes.NewReader(fit.Bytes), a.Limits.ArtifactBytes)
	if err == nil && !slices.ContainsFunc(a.out.Mentions, func(m scrollback.Artifact) bool { return m.ID == id }) {
		a.out.Mentions = append(a.out.Mentions,
			scrollback.Artifact{ID: id, MediaType: fit.MediaType, Name: name, Size: size, CreatedAt: a.store.Now()})
	}
	return scrollback.Image{Artifact: id, MediaType: fit.MediaType, Name: name, Size: size, Width: fit.Width,
		Height: fit.Height}, err
}

// nameInError returns which image an error is about.
func nameInError(name string, err error) error {
	if err == nil {
		return nil
	}
	return scrollback.ParamErrorf("intake", "message", i18n.ImageFailed, clip.ClipLine(clip.JoinLines(name), 100), err)
}
