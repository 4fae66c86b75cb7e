package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// classes are the sizes that objects have, in bytes.
var classes = [...]int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}

// The beginning of an object: the format, what shows that it is of this vault, the key, a salt.
const (
	format     = 1
	tagBytes   = 8
	keyIDBytes = 8
	saltBytes  = 24
	headBytes  = 1 + tagBytes + keyIDBytes + saltBytes
	lenBytes   = 4
	sumBytes   = 16
	overhead   = headBytes + lenBytes + sumBytes
)

// maxObject bounds an object, in bytes.
const maxObject = 1 << 20

// What may be wrong with an object.
var (
	errDamaged    = errors.New("it was changed, cut off or put in another's place")
	errForeign    = errors.New("it is not of this remote")
	errUnknownKey = errors.New("its key is not here yet")
)

// capacity returns how many bytes an object of a class takes.
func capacity(class int) int { return classes[class] - overhead }

// classFor returns the smallest class that takes n bytes.
func classFor(n int) (int, bool) {
	for c := range classes {
		if capacity(c) >= n {
			return c, true
		}
	}
	return 0, false
}

// slack is how many bytes of padding a publication may have whatever its size.
const slack = 48 << 10

// cutInto returns the classes of the objects that take n bytes, with padding of at most a tenth of total or slack.
func cutInto(n, total int) (out []int) {
	largest := len(classes) - 1
	for n > 0 {
		if n >= capacity(largest) {
			out = append(out, largest)
			n -= capacity(largest)
			continue
		}
		c, _ := classFor(n)
		if c == 0 || capacity(c)-n <= max(total/10, slack) {
			return append(out, c)
		}
		out = append(out, c-1) // it takes part of the rest
		n -= capacity(c - 1)
	}
	return out
}

// epochKey is a key by which objects are sealed from some change of the machines on.
type epochKey struct {
	ID      []byte   `json:"id"`
	Key     []byte   `json:"key"`
	Without []string `json:"without"` // the members that had been removed when it was made: they do not know it
}

// opener seals and opens objects of one vault.
type opener struct {
	vault  string
	secret []byte // known to all who were ever members
	keys   []epochKey
}

// objectTag returns what shows that an object is of a vault.
func (o opener) objectTag(k kind, salt []byte) []byte {
	mac := hmac.New(sha256.New, o.secret)
	mac.Write([]byte("scrollback vault object " + string(k) + "\x00"))
	mac.Write(salt)
	return mac.Sum(nil)[:tagBytes]
}

// aead returns the cipher of one object: its key is used once.
func (o opener) aead(key, salt []byte, k kind, writer string) (cipher.AEAD, error) {
	purpose := "scrollback vault 1\x00" + o.vault + "\x00" + string(k) + "\x00" + writer
	one, err := hkdf.Key(sha256.New, key, salt, purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(one)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal returns an object of a class with a payload, which is bound to its kind and its writer.
func (o opener) seal(key epochKey, k kind, writer string, payload []byte, class int) ([]byte, error) {
	if len(payload) > capacity(class) {
		return nil, errTooLong
	}
	out := make([]byte, headBytes, classes[class])
	salt := out[1+tagBytes+keyIDBytes:]
	_, _ = rand.Read(salt) // it never fails
	out[0] = format
	copy(out[1:], o.objectTag(k, salt))
	copy(out[1+tagBytes:], key.ID)
	aead, err := o.aead(key.Key, salt, k, writer)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, classes[class]-headBytes-sumBytes)
	binary.BigEndian.PutUint32(plain, uint32(len(payload)))
	copy(plain[lenBytes:], payload)
	return aead.Seal(out, make([]byte, aead.NonceSize()), plain, out[:headBytes]), nil
}

// open returns the payload of an object.
func (o opener) open(k kind, writer string, object []byte) ([]byte, error) {
	if len(object) < overhead || object[0] != format || !slices.Contains(classes[:], len(object)) {
		return nil, errDamaged
	}
	head := object[:headBytes]
	salt := head[1+tagBytes+keyIDBytes:]
	if !hmac.Equal(head[1:1+tagBytes], o.objectTag(k, salt)) {
		return nil, errForeign
	}
	id := head[1+tagBytes : 1+tagBytes+keyIDBytes]
	at := slices.IndexFunc(o.keys, func(each epochKey) bool { return string(each.ID) == string(id) })
	if at < 0 {
		return nil, errUnknownKey
	}
	aead, err := o.aead(o.keys[at].Key, salt, k, writer)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), object[headBytes:], head)
	if err != nil {
		return nil, errDamaged
	}
	n := binary.BigEndian.Uint32(plain)
	if int64(n) > int64(len(plain)-lenBytes) {
		return nil, errDamaged
	}
	return plain[lenBytes : lenBytes+int(n)], nil
}
