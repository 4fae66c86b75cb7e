package vault

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// manifest says what an artifact is made of. Bytes that fit beside it are behind it.
type manifest struct {
	Size   int64   `json:"size"`
	Pieces []piece `json:"pieces,omitempty"`
}

// artifactName returns the name of an artifact by a key: nobody without the key can tell or guess it.
func artifactName(k epochKey, id string) string {
	mac := hmac.New(sha256.New, k.Key)
	mac.Write([]byte("scrollback vault artifact\x00" + id))
	return encodeName(mac.Sum(nil))
}

// manifestsOf returns the places of the manifests of an artifact, by any key there was.
func (v *Vault) manifestsOf(id string) (out []place) {
	for _, k := range v.roster.Keys {
		for _, p := range v.there.artifacts[artifactName(k, id)] {
			key := artifactKey(p.writer, true, p.keyed, p.name)
			if p.kind == manifestKind && slices.Contains(classes[:], int(v.there.sizes[key])) {
				out = append(out, p)
			}
		}
	}
	return out
}

// HasArtifact reports whether an artifact is in the vault, whoever wrote it, as far as the last look has seen.
func (v *Vault) HasArtifact(ctx context.Context, id string) (bool, error) {
	if !v.looked {
		if _, err := v.Look(ctx); err != nil {
			return false, err
		}
	}
	return len(v.manifestsOf(id)) > 0, nil
}

// sideClass is the largest class of a manifest that has the bytes of its artifact beside it.
const sideClass = 3

// PutArtifact writes the bytes of an artifact, unless they are there. They are seen when all of them are.
func (v *Vault) PutArtifact(ctx context.Context, id string, r io.Reader) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	if len(v.manifestsOf(id)) > 0 {
		return nil
	}
	if err := v.sayList(ctx); err != nil {
		return err
	}
	key, _ := v.roster.key()
	keyed := artifactName(key, id)
	put := func(k kind, text []byte, class int) (string, error) {
		object, err := v.opener().seal(key, k+kind("\x00"+keyed), v.writer.id, text, class)
		if err != nil {
			return "", scrollback.Wrap(scrollback.Internal, op, err)
		}
		name := nameOf(object)
		return name, v.put(ctx, artifactKey(v.writer.id, k == manifestKind, keyed, name), object)
	}
	const largest = len(classes) - 1
	var m manifest
	buffer := make([]byte, capacity(largest))
	for {
		n, err := io.ReadFull(r, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return scrollback.Wrap(scrollback.Unavailable, op, err)
		}
		m.Size += int64(n)
		rest := buffer[:n]
		if err != nil && m.Size == int64(n) && n <= capacity(sideClass)-128 {
			return v.putManifest(m, rest, put)
		}
		for _, class := range cutInto(n, int(m.Size)) {
			size := min(len(rest), capacity(class))
			name, err := put(pieceKind, rest[:size], class)
			if err != nil {
				return err
			}
			m.Pieces = append(m.Pieces, piece{name, size})
			rest = rest[size:]
		}
		if err != nil {
			return v.putManifest(m, nil, put)
		}
	}
}

// putManifest writes a manifest, with the bytes of a small artifact.
func (v *Vault) putManifest(m manifest, beside []byte, put func(kind, []byte, int) (string, error)) error {
	text, err := json.Marshal(m)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	payload := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	payload = slices.Concat(payload, text, beside)
	class, ok := classFor(len(payload))
	if !ok {
		return scrollback.Errorf(scrollback.Invalid, op, i18n.VaultArtifactTooLarge).WithReason(scrollback.ErrTooLarge)
	}
	_, err = put(manifestKind, payload, class)
	return err
}

// decodeManifest reads a manifest and the bytes beside it.
func decodeManifest(payload []byte) (m manifest, beside []byte, err error) {
	if len(payload) < lenBytes {
		return m, nil, errDamaged
	}
	n := binary.BigEndian.Uint32(payload)
	if int64(n) > int64(len(payload)-lenBytes) || json.Unmarshal(payload[lenBytes:lenBytes+int(n)], &m) != nil {
		return manifest{}, nil, errDamaged
	}
	beside = payload[lenBytes+int(n):]
	total := int64(len(beside))
	for _, p := range m.Pieces {
		if p.Used <= 0 || p.Used > maxObject {
			return manifest{}, nil, errDamaged
		}
		total += int64(p.Used)
	}
	if total != m.Size {
		return manifest{}, nil, errDamaged
	}
	return m, beside, nil
}

// OpenArtifact returns the bytes of an artifact and how many they are. What cannot be read now is unavailable, what is
// damaged refused, and both may come while it is read. Who needs to be sure that they are those of the id compares its
// hash: a machine that was removed can still write below its own id.
func (v *Vault) OpenArtifact(ctx context.Context, id string) (io.Reader, int64, error) {
	if !v.looked {
		if _, err := v.Look(ctx); err != nil {
			return nil, 0, err
		}
	}
	var last error
	for _, p := range v.manifestsOf(id) {
		key := artifactKey(p.writer, true, p.keyed, p.name)
		payload, err := v.fetch(ctx, key, p.name, manifestKind+kind("\x00"+p.keyed), p.writer)
		var m manifest
		var beside []byte
		if err == nil {
			m, beside, err = decodeManifest(payload)
		}
		if err == nil {
			key := func(pc piece) bool {
				size, ok := v.there.sizes[artifactKey(p.writer, false, p.keyed, pc.Name)]
				return !ok || !slices.Contains(classes[:], int(size))
			}
			if slices.ContainsFunc(m.Pieces, key) {
				err = ErrNotHere
			}
		}
		if err == nil {
			return &artifactReader{ctx: ctx, v: v, at: p, pieces: m.Pieces, held: bytes.NewReader(beside)}, m.Size, nil
		}
		last = v.artifactError(key, err)
	}
	if last == nil {
		last = scrollback.Errorf(scrollback.NotFound, op, i18n.VaultNoArtifact)
	}
	return nil, 0, last
}

// artifactError returns what is wrong with an object of an artifact, and takes it into the news.
func (v *Vault) artifactError(key string, err error) error {
	if noted := v.note(key, err); noted != nil {
		return noted
	}
	for _, r := range v.news.Refused {
		if r.Key == key {
			return r.Err
		}
	}
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultArtifactNotHere).WithReason(ErrNotHere)
}

// artifactReader reads an artifact piece by piece.
type artifactReader struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call that reads
	v      *Vault
	at     place
	pieces []piece
	held   *bytes.Reader
	err    error
}

func (r *artifactReader) Read(p []byte) (int, error) {
	for r.held.Len() == 0 && r.err == nil {
		if len(r.pieces) == 0 {
			r.err = io.EOF
			break
		}
		next := r.pieces[0]
		r.pieces = r.pieces[1:]
		key := artifactKey(r.at.writer, false, r.at.keyed, next.Name)
		text, err := r.v.fetch(r.ctx, key, next.Name, pieceKind+kind("\x00"+r.at.keyed), r.at.writer)
		if err == nil && len(text) != next.Used {
			err = errDamaged
		}
		if err != nil {
			r.err = r.v.artifactError(key, err)
			break
		}
		r.held.Reset(text)
	}
	if r.held.Len() > 0 {
		return r.held.Read(p)
	}
	return 0, r.err
}

// DropArtifact removes what this store has written of an artifact.
func (v *Vault) DropArtifact(ctx context.Context, id string) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	ours := append(slices.Clone(v.state.Former), v.writer.id)
	for _, manifests := range []bool{true, false} { // what names the others goes first
		for _, k := range v.roster.Keys {
			for _, p := range slices.Clone(v.there.artifacts[artifactName(k, id)]) {
				if (p.kind == manifestKind) != manifests || !slices.Contains(ours, p.writer) {
					continue
				}
				if err := v.delete(ctx, artifactKey(p.writer, manifests, p.keyed, p.name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
