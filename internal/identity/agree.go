package identity

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"strings"

	"filippo.io/age"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// FromSeed returns keys whose identity follows from 32 secret bytes, and that are in no file.
func FromSeed(seed [32]byte) Keys {
	return Keys{Given: strings.ToUpper(encodeBech32("age-secret-key-", seed[:]))}
}

// Agree returns a secret of 32 bytes that this machine's identity and a recipient's have in common: the owner of the
// recipient gets the same with this machine's. label says what it is for.
func (k Keys) Agree(recipient, label string) ([]byte, error) {
	own, err := k.secret()
	if err != nil {
		return nil, err
	}
	if _, err := age.ParseX25519Recipient(recipient); err != nil {
		return nil, scrollback.ParamErrorf(op, "recipient", i18n.RecipientIsNone, recipient)
	}
	point, err := decodeBech32(recipient)
	if err != nil {
		return nil, scrollback.ParamErrorf(op, "recipient", i18n.RecipientIsNone, recipient)
	}
	theirs, err := ecdh.X25519().NewPublicKey(point)
	if err != nil {
		return nil, scrollback.ParamErrorf(op, "recipient", i18n.RecipientIsNone, recipient)
	}
	shared, err := own.ECDH(theirs)
	if err != nil { // a point that gives no secret
		return nil, scrollback.ParamErrorf(op, "recipient", i18n.RecipientIsNone, recipient)
	}
	return hkdf.Key(sha256.New, shared, nil, label, sha256.Size)
}

// Derive returns a secret of 32 bytes that follows from this machine's identity and a salt, and tells nothing of
// either. label says what it is for.
func (k Keys) Derive(salt []byte, label string) ([]byte, error) {
	own, err := k.secret()
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, own.Bytes(), salt, label, sha256.Size)
}

// secret returns the identity of this machine as a key.
func (k Keys) secret() (*ecdh.PrivateKey, error) {
	if _, err := k.Own(); err != nil {
		return nil, err
	}
	all, err := k.read()
	if err != nil {
		return nil, k.explain(err)
	}
	scalar, err := decodeBech32(all[0].String())
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, op, err)
	}
	out, err := ecdh.X25519().NewPrivateKey(scalar)
	return out, scrollback.Wrap(scrollback.Internal, op, err)
}

// Bech32 is the form of identities and recipients as text (BIP 173, without its bound of 90 characters).
const bech32Letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// encodeBech32 returns bytes as text behind a prefix, in small letters.
func encodeBech32(prefix string, b []byte) string {
	groups := regroup(b, 8, 5)
	var expanded []byte
	for _, c := range []byte(prefix) {
		expanded = append(expanded, c>>5)
	}
	expanded = append(expanded, 0)
	for _, c := range []byte(prefix) {
		expanded = append(expanded, c&31)
	}
	sum := checkBech32(append(append(expanded, groups...), 0, 0, 0, 0, 0, 0)) ^ 1
	for i := range 6 {
		groups = append(groups, byte(sum>>(5*(5-i))&31))
	}
	out := prefix + "1"
	for _, g := range groups {
		out += string(bech32Letters[g])
	}
	return out
}

// checkBech32 returns the sum of groups of 5 bits that the last six of a text make 1.
func checkBech32(groups []byte) uint32 {
	sum := uint32(1)
	for _, g := range groups {
		top := sum >> 25
		sum = sum&0x1ffffff<<5 ^ uint32(g)
		for i, part := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= part
			}
		}
	}
	return sum
}

// decodeBech32 returns the bytes of a text that age has accepted, so that its sum is known to be right.
func decodeBech32(text string) ([]byte, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	at := strings.LastIndexByte(text, '1')
	if at < 0 || len(text)-at < 7 {
		return nil, errNoIdentity
	}
	var groups []byte
	for _, c := range text[at+1 : len(text)-6] {
		g := strings.IndexRune(bech32Letters, c)
		if g < 0 {
			return nil, errNoIdentity
		}
		groups = append(groups, byte(g))
	}
	out := regroup(groups, 5, 8)
	if len(out) < 32 {
		return nil, errors.New("too short")
	}
	return out[:32], nil
}

// regroup cuts groups of some bits into groups of others, the last filled up with zeros.
func regroup(in []byte, from, to int) (out []byte) {
	bits := 0
	held := uint32(0)
	for _, b := range in {
		held = held<<from | uint32(b)
		for bits += from; bits >= to; {
			bits -= to
			out = append(out, byte(held>>bits))
			held &= 1<<bits - 1
		}
	}
	if bits > 0 {
		out = append(out, byte(held<<(to-bits)))
	}
	return out
}
