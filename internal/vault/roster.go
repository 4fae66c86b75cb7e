package vault

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/identity"
)

// roster is who is in a vault, and by which keys its objects are sealed. Rosters of several machines are joined by
// taking all that is in either; what one has removed is removed.
type roster struct {
	Secret  []byte     `json:"secret"`  // follows the vault through its life; its hash is the vault's id
	Members []member   `json:"members"` // those that were not removed
	Removed []removal  `json:"removed,omitempty"`
	Keys    []epochKey `json:"keys"`
	Retired []string   `json:"retired,omitempty"` // writers that are not read any more
	Covers  []string   `json:"covers,omitempty"`  // names of the key lists whose content is in this one
}

// member is a machine, or the recovery phrase.
type member struct {
	ID        string   `json:"id"` // of this membership: a machine that comes back has another one
	Name      string   `json:"name,omitempty"`
	Recipient string   `json:"recipient"`
	Phrase    bool     `json:"phrase,omitempty"`
	Writers   []string `json:"writers,omitempty"` // below which ids it writes
}

// removal is a member that was removed.
type removal struct {
	ID        string            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Recipient string            `json:"recipient"`
	Ends      map[string]uint64 `json:"ends,omitempty"` // the number of each writer's last head that is believed
}

// vaultID returns the id of the vault with a secret.
func vaultID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("scrollback vault id\x00"), secret...))
	return encodeName(sum[:])
}

func randomBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // it never fails
	return out
}

func newMember(name, recipient string) member {
	return member{ID: encodeName(randomBytes(nameBytes)), Name: name, Recipient: recipient}
}

// newKey makes the key from here on.
func (r *roster) newKey() {
	key := epochKey{ID: randomBytes(keyIDBytes), Key: randomBytes(32)}
	for _, gone := range r.Removed {
		key.Without = append(key.Without, gone.ID)
	}
	r.Keys = append(r.Keys, key)
	r.sort()
}

// key returns the key that objects are sealed by: none that a removed member knows.
func (r *roster) key() (epochKey, bool) {
	for _, k := range slices.Backward(r.Keys) {
		knows := func(gone removal) bool { return !slices.Contains(k.Without, gone.ID) }
		if !slices.ContainsFunc(r.Removed, knows) {
			return k, true
		}
	}
	return epochKey{}, false
}

func (r *roster) opener() opener { return opener{vaultID(r.Secret), r.Secret, r.Keys} }

// byRecipient returns the member with a recipient.
func (r *roster) byRecipient(recipient string) *member {
	for i := range r.Members {
		if r.Members[i].Recipient == recipient {
			return &r.Members[i]
		}
	}
	return nil
}

// recipients returns those of all members.
func (r *roster) recipients() (out []string) {
	for _, m := range r.Members {
		out = append(out, m.Recipient)
	}
	return out
}

// owner returns the name of the member that writes below an id, and whether there is one.
func (r *roster) owner(writer string) (string, bool) {
	for _, m := range r.Members {
		if slices.Contains(m.Writers, writer) {
			return m.Name, true
		}
	}
	for _, gone := range r.Removed {
		if _, ok := gone.Ends[writer]; ok {
			return gone.Name, true
		}
	}
	return "", false
}

// end returns the number of the last head of a writer that is believed, if its member was removed.
func (r *roster) end(writer string) (uint64, bool) {
	for _, m := range r.Members { // a machine that came back
		if slices.Contains(m.Writers, writer) {
			return 0, false
		}
	}
	for _, gone := range r.Removed {
		if n, ok := gone.Ends[writer]; ok {
			return n, true
		}
	}
	return 0, false
}

// remove removes the members for which gone holds, and reports whether there were any.
func (r *roster) remove(gone func(member) bool, ends map[string]uint64) bool {
	var kept []member
	for _, m := range r.Members {
		if !gone(m) {
			kept = append(kept, m)
			continue
		}
		out := removal{ID: m.ID, Name: m.Name, Recipient: m.Recipient, Ends: map[string]uint64{}}
		for _, w := range m.Writers {
			out.Ends[w] = ends[w]
		}
		r.Removed = append(r.Removed, out)
	}
	any := len(kept) < len(r.Members)
	r.Members = kept
	r.sort()
	return any
}

// join takes what another roster of the same vault has.
func (r *roster) join(o roster) {
	for _, gone := range o.Removed {
		at := slices.IndexFunc(r.Removed, func(g removal) bool { return g.ID == gone.ID })
		if at < 0 {
			r.Removed = append(r.Removed, removal{gone.ID, gone.Name, gone.Recipient, maps.Clone(gone.Ends)})
			continue
		}
		ends := maps.Clone(r.Removed[at].Ends)
		for w, n := range gone.Ends {
			if ends == nil {
				ends = map[string]uint64{}
			}
			ends[w] = max(ends[w], n)
		}
		r.Removed[at].Ends = ends
	}
	for _, m := range o.Members {
		at := slices.IndexFunc(r.Members, func(have member) bool { return have.ID == m.ID })
		if at < 0 {
			r.Members = append(r.Members, m)
			continue
		}
		r.Members[at].Writers = union(r.Members[at].Writers, m.Writers)
	}
	r.Members = slices.DeleteFunc(slices.Clone(r.Members), func(m member) bool {
		return slices.ContainsFunc(r.Removed, func(g removal) bool { return g.ID == m.ID })
	})
	for _, k := range o.Keys {
		known := func(have epochKey) bool { return bytes.Equal(have.ID, k.ID) }
		if !slices.ContainsFunc(r.Keys, known) {
			r.Keys = append(r.Keys, k)
		}
	}
	r.Retired = union(r.Retired, o.Retired)
	r.Covers = union(r.Covers, o.Covers)
	r.sort()
}

// union returns what is in either list, ascending.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// sort puts all in one order, that of the keys being the order in which they are taken.
func (r *roster) sort() {
	slices.SortFunc(r.Members, func(a, b member) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.Removed, func(a, b removal) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.Keys, func(a, b epochKey) int {
		return cmp.Or(cmp.Compare(len(a.Without), len(b.Without)), bytes.Compare(a.ID, b.ID))
	})
}

// digest returns a hash of what a roster says, whatever lists it was made of.
func (r *roster) digest() string {
	mine := *r
	mine.Covers = nil
	text, _ := json.Marshal(mine) // it has nothing that cannot be written
	sum := sha256.Sum256(text)
	return encodeName(sum[:])
}

// clone returns a roster that shares nothing that is changed.
func (r *roster) clone() roster {
	var out roster
	out.Secret = r.Secret
	out.join(*r)
	return out
}

// check reports whether a roster that was read has what it must have.
func (r *roster) check() bool {
	if len(r.Secret) != 32 || len(r.Members) == 0 || len(r.Keys) == 0 {
		return false
	}
	for _, k := range r.Keys {
		if len(k.ID) != keyIDBytes || len(k.Key) != 32 {
			return false
		}
	}
	for _, m := range r.Members {
		if m.ID == "" || identity.CheckRecipient(m.Recipient) != nil {
			return false
		}
	}
	return true
}

// letter is what is in a key list: a roster with proof for each member of who wrote it.
type letter struct {
	Author string            `json:"author"` // a recipient
	Roster json.RawMessage   `json:"roster"`
	Proofs map[string][]byte `json:"proofs"` // by recipient: what only the author and that member can make
}

const proofLabel = "scrollback vault key list 1"

// prove returns what only two members can make of a roster that one of them wrote.
func prove(shared []byte, author string, roster []byte) []byte {
	mac := hmac.New(sha256.New, shared)
	mac.Write([]byte(author))
	mac.Write([]byte{0})
	mac.Write(roster)
	return mac.Sum(nil)
}

// listTag returns what shows that a key list is of a vault, to those who cannot open it too.
func listTag(secret, sealed []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("scrollback vault key list\x00"))
	mac.Write(sealed)
	return mac.Sum(nil)
}

// sealRoster returns a key list by the owner of some keys, for all members.
func sealRoster(r roster, me identity.Keys) ([]byte, error) {
	own, err := me.Own()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	out := letter{Author: own.Recipient, Roster: text, Proofs: map[string][]byte{}}
	var to []string
	for _, m := range r.Members {
		shared, err := me.Agree(m.Recipient, proofLabel)
		if err != nil {
			return nil, err
		}
		out.Proofs[m.Recipient] = prove(shared, own.Recipient, text)
		to = append(to, m.Recipient)
	}
	sealed, err := sealFor(me, to, out)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte{format}, listTag(r.Secret, sealed), sealed), nil
}

// sealFor encrypts a value for the owner of some keys and others, filled up to a size of a class.
func sealFor(me identity.Keys, to []string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	class, ok := classFor(len(text))
	if !ok {
		return nil, errTooLong
	}
	plain := make([]byte, lenBytes+capacity(class))
	binary.BigEndian.PutUint32(plain, uint32(len(text)))
	copy(plain[lenBytes:], text)
	me.Recipients = to
	var out bytes.Buffer
	w, err := me.Encrypt(&out)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(plain)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// unseal opens what sealFor made.
func unseal(me identity.Keys, sealed []byte, value any) error {
	if !identity.Sniff(sealed) {
		return errDamaged
	}
	r, _, err := me.Open(bytes.NewReader(sealed))
	if err != nil {
		return err
	}
	plain, err := readAtMost(r, maxObject+lenBytes)
	if err != nil {
		return err
	}
	if len(plain) < lenBytes {
		return errDamaged
	}
	n := binary.BigEndian.Uint32(plain)
	if int64(n) > int64(len(plain)-lenBytes) || json.Unmarshal(plain[lenBytes:lenBytes+int(n)], value) != nil {
		return errDamaged
	}
	return nil
}

// maxList bounds a key list, in bytes: what it is filled up to, and what age puts before it.
const maxList = maxObject + 256<<10

// errNotForUs says that a key list is of this vault, and for others.
var errNotForUs = errors.New("it is for other machines")

// sealedRoster is a key list, by who wrote it.
type sealedRoster struct {
	roster

	author string
}

// openRoster opens a key list and checks who wrote it. secret is that of the vault, if it is known: then a list that is
// for others is told from one of another vault.
func openRoster(object []byte, me identity.Keys, secret []byte) (out sealedRoster, err error) {
	const head = 1 + sha256.Size
	if len(object) < head || object[0] != format {
		return out, errDamaged
	}
	tag := object[1:head]
	sealed := object[head:]
	if secret != nil && !hmac.Equal(tag, listTag(secret, sealed)) {
		return out, errForeign
	}
	var read letter
	if err := unseal(me, sealed, &read); err != nil {
		if errors.Is(err, errDamaged) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out, errDamaged
		}
		if secret == nil {
			return out, errForeign
		}
		return out, errNotForUs
	}
	own, err := me.Own()
	if err != nil {
		return out, err
	}
	shared, err := me.Agree(read.Author, proofLabel)
	if err != nil || !hmac.Equal(read.Proofs[own.Recipient], prove(shared, read.Author, read.Roster)) {
		return out, errDamaged
	}
	out.author = read.Author
	if json.Unmarshal(read.Roster, &out.roster) != nil || !out.check() ||
		!hmac.Equal(tag, listTag(out.Secret, sealed)) {
		return out, errDamaged
	}
	return out, nil
}

// believe joins the lists that members wrote to a roster, which may be empty: then it is the lists themselves that say
// who is a member. It returns which were not believed.
func (r *roster) believe(lists []sealedRoster) (strangers []int) {
	taken := make([]bool, len(lists))
	if len(r.Members) == 0 {
		r.begin(lists)
	}
	for again := true; again; {
		again = false
		var of []sealedRoster
		for i, l := range lists {
			if !taken[i] && bytes.Equal(l.Secret, r.Secret) && r.byRecipient(l.author) != nil {
				taken[i] = true
				again = true
				of = append(of, l)
			}
		}
		for _, l := range of { // a removal counts before what the removed says
			r.join(roster{Removed: l.Removed})
		}
		for _, l := range of {
			if r.byRecipient(l.author) != nil {
				r.join(l.roster)
			}
		}
	}
	for i := range lists {
		if !taken[i] {
			strangers = append(strangers, i)
		}
	}
	return strangers
}

// begin takes, for a machine that knows nothing yet, what says which vault this is and who is in it: the lists of those
// whom no list has removed.
func (r *roster) begin(lists []sealedRoster) {
	gone := map[string]bool{}
	for _, l := range lists {
		for _, g := range l.Removed {
			gone[g.ID] = true
		}
	}
	for _, l := range lists {
		author := l.byRecipient(l.author)
		if author == nil || gone[author.ID] || r.Secret != nil && !bytes.Equal(r.Secret, l.Secret) {
			continue
		}
		r.Secret = l.Secret
		r.join(l.roster)
	}
}
