// Package vault is an encrypted place in a folder or a bucket, through which the machines of one person meet: each
// leaves batches of bytes there, and reads those of the others when they arrive.
//
// Words it adds: vault (such a place), machine (an identity that is a member of it), writer (the id below which one
// store of a machine writes), batch (bytes that mean something to the caller alone), head (what names all batches of a
// writer), key list (who is a member, and the keys), news (what a look at a vault found).
//
// Invariants: nothing in it can be read, guessed or changed unnoticed without the keys; a writer writes only below its
// own id, every object once and under a name made of its content; a program that is cut off leaves the old or the new
// state; what is missing says nothing; no time is in the protocol, and nothing is compressed.
//
// It knows neither conversations nor how they are merged. docs/decisions/vault.md has the layout.
package vault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

const op = "vault"

// Protocol is the number of the layout and of what the objects say. A vault of another one is refused.
const Protocol = 1

// Vault is one that was opened. It is not safe for concurrent use.
type Vault struct {
	objects Objects
	me      identity.Keys
	own     identity.Own
	save    func(State) error
	state   State
	kept    []byte // the state that was saved last, as JSON
	roster  roster
	writer  writerKey

	listed  bool // since the last look
	looked  bool
	there   inventory
	ownHead head            // what the writer's newest head says, if there is one
	ownRuns []run           // all runs of ownHead, once they were needed
	bodies  map[string]body // contents that were read last, by key
	lines   []*line         // what there is to be read
	news    News
	blocked error // why nothing may be written
	relist  bool  // the own key list has to be written again
	coming  map[string]bool
	litter  []string // keys of what is ours and not needed
}

// State is what a machine has to keep of a vault, as JSON, for each of its stores. It has no secret that opens
// anything. The zero value is that of a machine that has not met the vault.
type State struct {
	Version int              `json:"version"` // of this form
	Vault   string           `json:"vault,omitempty"`
	Salt    []byte           `json:"salt,omitempty"`    // the writer's id follows from it and the identity
	Former  []string         `json:"former,omitempty"`  // ids that this store wrote below before
	Own     Position         `json:"own"`               // up to where the store has written
	Next    string           `json:"next,omitempty"`    // the name of a head that may have been written since
	Writing bool             `json:"writing,omitempty"` // objects may have been written that no head names
	List    string           `json:"list,omitempty"`    // the name of the writer's own key list
	Said    string           `json:"said,omitempty"`    // a hash of what that list says
	SaidTo  []string         `json:"said_to,omitempty"` // the recipients that can open it
	Unsaid  bool             `json:"unsaid,omitempty"`  // no one list says what all of them do
	Roster  []byte           `json:"roster,omitempty"`  // encrypted for the identity
	Readers map[string]*Seen `json:"readers,omitempty"`
}

// stateVersion is that of the form of State.
const stateVersion = 1

// Position is a place in what a writer has written.
type Position struct {
	Number uint64 `json:"number,omitempty"` // of the newest head
	Head   string `json:"head,omitempty"`   // its name
	Before string `json:"before,omitempty"` // and that of the one before
	Last   uint64 `json:"last,omitempty"`   // the number of the last batch
	Chain  string `json:"chain,omitempty"`
}

// Seen is what was seen of a writer. There is more than one line only of one whose folder was copied.
type Seen struct {
	Lines []Line `json:"lines"`
	Older string `json:"older,omitempty"` // the head of an older state that was told of
}

// Line is what was read of a writer.
type Line struct {
	Position

	Done uint64   `json:"done,omitempty"` // the number of the last batch that was applied
	Gaps []uint64 `json:"gaps,omitempty"` // those before it that were not, ascending
}

// marker is what the one object says that is not encrypted.
type marker struct {
	Scrollback string `json:"scrollback"`
	Protocol   int    `json:"protocol"`
	Vault      string `json:"vault"`
}

const maxMarker = 4 << 10

// errNoMarker says that nothing there says that it is a vault.
var errNoMarker = errors.New("there is no marker")

// readMarker returns the id of the vault that is there.
func readMarker(ctx context.Context, o Objects) (string, error) {
	text, err := o.Read(ctx, markerName, maxMarker)
	if errors.Is(err, blob.ErrMissing) {
		return "", errNoMarker
	}
	if err != nil && !errors.Is(err, errTooLong) {
		return "", scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	var m marker
	if err != nil || json.Unmarshal(text, &m) != nil || m.Scrollback != "vault" || m.Protocol <= 0 {
		return "", scrollback.Errorf(scrollback.Refused, op, i18n.VaultMarkerDamaged, markerName)
	}
	if m.Protocol != Protocol {
		return "", scrollback.Errorf(scrollback.Refused, op, i18n.VaultOtherProtocol, m.Protocol, Protocol)
	}
	if len(m.Vault) != 32 {
		return "", scrollback.Errorf(scrollback.Refused, op, i18n.VaultMarkerDamaged, markerName)
	}
	return m.Vault, nil
}

// Init makes a vault with this machine as its first member, and returns the recovery phrase, which is stored nowhere.
// Where one is already, nothing changes. save is called with each state that has to be kept before anything that
// depends on it is written.
func Init(ctx context.Context, o Objects, me identity.Keys, name string, save func(State) error,
) (v *Vault, phrase string, err error) {
	own, err := me.Own()
	if err != nil {
		return nil, "", err
	}
	switch _, err := readMarker(ctx, o); {
	case err == nil:
		return nil, "", scrollback.Errorf(scrollback.Refused, op, i18n.VaultIsThere, own.Recipient)
	case !errors.Is(err, errNoMarker):
		return nil, "", err
	}
	if _, err := list(ctx, o); err != nil {
		return nil, "", err
	}
	phrase = makePhrase()
	recovery, err := readPhrase(phrase)
	if err != nil {
		return nil, "", err
	}
	other, err := recovery.Own()
	if err != nil {
		return nil, "", err
	}
	r := roster{Secret: randomBytes(32), Members: []member{newMember(name, own.Recipient), newMember("", other.Recipient)}}
	r.Members[1].Phrase = true
	r.newKey()
	v, err = newVault(o, me, own, State{Vault: vaultID(r.Secret)}, save)
	if err != nil {
		return nil, "", err
	}
	v.roster = r
	if err := v.writeList(ctx, me); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(marker{"vault", Protocol, v.state.Vault})
	if err != nil {
		return nil, "", scrollback.Wrap(scrollback.Internal, op, err)
	}
	if err := o.Put(ctx, markerName, text); err != nil {
		return nil, "", scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	return v, phrase, nil
}

// Join opens a vault with the recovery phrase, and makes this machine a member of it, if it is none yet.
func Join(ctx context.Context, o Objects, me identity.Keys, name, phrase string, save func(State) error,
) (*Vault, error) {
	recovery, err := readPhrase(phrase)
	if err != nil {
		return nil, err
	}
	own, err := me.Own()
	if err != nil {
		return nil, err
	}
	id, err := readMarker(ctx, o)
	if errors.Is(err, errNoMarker) {
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.VaultIsNone)
	}
	if err != nil {
		return nil, err
	}
	v, err := newVault(o, me, own, State{Vault: id}, save)
	if err != nil {
		return nil, err
	}
	if err := v.listObjects(ctx); err != nil {
		return nil, err
	}
	v.readLists(ctx, recovery)
	if v.roster.Secret == nil {
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.VaultPhraseWrong)
	}
	if v.blocked != nil {
		return nil, v.blocked
	}
	if v.roster.byRecipient(own.Recipient) == nil {
		if err := v.checkName(name); err != nil {
			return nil, err
		}
		v.roster.Members = append(v.roster.Members, newMember(name, own.Recipient))
		if err := v.writeList(ctx, recovery); err != nil {
			return nil, err
		}
	}
	v.listed = false // the list is older than what was written
	return v, v.keepRoster()
}

// Open opens a vault that this machine is a member of. state is what it kept of it, and save keeps the next ones. It
// reads what says so: [Vault.Look] looks for what is new.
func Open(ctx context.Context, o Objects, me identity.Keys, state State, save func(State) error) (*Vault, error) {
	own, err := me.Own()
	if err != nil {
		return nil, err
	}
	if state.Version > stateVersion {
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.VaultOtherProtocol, state.Version, stateVersion)
	}
	id, err := readMarker(ctx, o)
	switch {
	case errors.Is(err, errNoMarker) && state.Vault != "":
		return nil, scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultIsGone)
	case errors.Is(err, errNoMarker):
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.VaultIsNone)
	case err != nil:
		return nil, err
	case state.Vault != "" && state.Vault != id:
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.VaultIsAnother)
	}
	state.Vault = id
	v, err := newVault(o, me, own, state, save)
	if err != nil {
		return nil, err
	}
	if len(v.state.Roster) > 0 {
		err := unseal(me, v.state.Roster, &v.roster)
		if err != nil || !v.roster.check() || vaultID(v.roster.Secret) != id {
			v.roster = roster{} // another identity than before: the vault says whether it is a member
		}
	}
	if err := v.listObjects(ctx); err != nil {
		return nil, err
	}
	v.readLists(ctx, me)
	if err := v.checkMember(); err != nil {
		return nil, err
	}
	return v, v.keepRoster()
}

// checkMember returns why this machine is no member of the vault.
func (v *Vault) checkMember() error {
	switch {
	case v.roster.Secret == nil && v.blocked != nil:
		return v.blocked
	case v.roster.Secret == nil:
		return scrollback.Errorf(scrollback.Refused, op, i18n.VaultNotMember, v.own.Recipient)
	case v.roster.byRecipient(v.own.Recipient) == nil:
		return scrollback.Errorf(scrollback.Refused, op, i18n.VaultRemoved, v.own.Recipient)
	}
	return nil
}

// newVault returns a vault with a state, which gets what it lacks.
func newVault(o Objects, me identity.Keys, own identity.Own, s State, save func(State) error) (*Vault, error) {
	if save == nil {
		save = func(State) error { return nil }
	}
	s = s.clone()
	s.Version = stateVersion
	if len(s.Salt) == 0 {
		s.Salt = randomBytes(nameBytes)
	}
	if s.Readers == nil {
		s.Readers = map[string]*Seen{}
	}
	w, err := deriveWriter(me, s.Salt)
	if err != nil {
		return nil, err
	}
	return &Vault{objects: o, me: me, own: own, save: save, state: s, writer: w,
		coming: map[string]bool{}}, nil
}

// clone returns a state that shares nothing that is changed.
func (s State) clone() State {
	readers := s.Readers
	s.Former = slices.Clone(s.Former)
	s.Readers = map[string]*Seen{}
	for w, seen := range readers {
		if seen == nil {
			continue
		}
		one := Seen{Older: seen.Older}
		for _, l := range seen.Lines {
			l.Gaps = slices.Clone(l.Gaps)
			one.Lines = append(one.Lines, l)
		}
		s.Readers[w] = &one
	}
	return s
}

// State returns what the caller has to keep, as it is now.
func (v *Vault) State() State { return v.state.clone() }

// Published returns the number of the last batch that this store has published; 0 before the first.
func (v *Vault) Published() uint64 { return v.state.Own.Last }

// keep has the state kept, if it is another than before.
func (v *Vault) keep() error {
	text, err := json.Marshal(v.state)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	if bytes.Equal(text, v.kept) {
		return nil
	}
	if err := v.save(v.State()); err != nil {
		return err
	}
	v.kept = text
	return nil
}

// keepRoster puts the roster into the state.
func (v *Vault) keepRoster() error {
	var before roster
	if len(v.state.Roster) > 0 && unseal(v.me, v.state.Roster, &before) == nil && before.digest() == v.roster.digest() &&
		slices.Equal(before.Covers, v.roster.Covers) {
		return nil
	}
	sealed, err := sealFor(v.me, nil, v.roster)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	v.state.Roster = sealed
	return v.keep()
}

// writeList writes the roster as the writer's own key list, by the author's keys, and keeps it.
func (v *Vault) writeList(ctx context.Context, author identity.Keys) error {
	if m := v.roster.byRecipient(v.own.Recipient); m != nil {
		m.Writers = union(m.Writers, []string{v.writer.id})
	}
	if _, ok := v.roster.key(); !ok {
		v.roster.newKey()
	}
	object, err := sealRoster(v.roster, author)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	name := nameOf(object)
	if err := v.keep(); err != nil { // the salt: else nobody knows whose the list is
		return err
	}
	if err := v.put(ctx, listKey(v.writer.id, name), object); err != nil {
		return err
	}
	before := v.state.List
	v.relist = false
	v.state.Unsaid = false
	v.state.Said = v.roster.digest()
	v.state.SaidTo = v.roster.recipients()
	v.roster.Covers = union(v.roster.Covers, []string{name})
	v.state.List = name
	if err := v.keepRoster(); err != nil {
		return err
	}
	for _, old := range v.there.lists[v.writer.id] { // the one before stays for those who do not see this one yet
		if old != name && old != before {
			if err := v.delete(ctx, listKey(v.writer.id, old)); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes an object and notes it.
func (v *Vault) put(ctx context.Context, key string, object []byte) error {
	if err := v.objects.Put(ctx, key, object); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	v.there.add(Object{key, int64(len(object))})
	return nil
}

func (v *Vault) delete(ctx context.Context, key string) error {
	if err := v.objects.Delete(ctx, key); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	v.there.drop(key)
	return nil
}

// Machine is a member of a vault, as a person sees it.
type Machine struct {
	Name      string `json:"name"`
	Recipient string `json:"recipient"`
	This      bool   `json:"this"`
}

// Machines returns the members, by name; the recovery phrase is not one of them.
func (v *Vault) Machines() []Machine {
	var out []Machine
	seen := map[string]bool{}
	for _, m := range v.roster.Members {
		if !m.Phrase && !seen[m.Recipient] {
			seen[m.Recipient] = true
			out = append(out, Machine{m.Name, m.Recipient, m.Recipient == v.own.Recipient})
		}
	}
	slices.SortFunc(out, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Recipient, b.Recipient))
	})
	return out
}

// checkName returns why a machine cannot have a name.
func (v *Vault) checkName(name string) error {
	for _, m := range v.roster.Members {
		if !m.Phrase && m.Name == name {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.VaultNameTaken, name)
		}
	}
	return nil
}

// Add makes a machine a member, which is no change if it is one.
func (v *Vault) Add(ctx context.Context, recipient, name string) error {
	if err := identity.CheckRecipient(recipient); err != nil {
		return scrollback.ParamErrorf(op, "recipient", i18n.RecipientIsNone, recipient)
	}
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	if v.roster.byRecipient(recipient) != nil {
		return nil
	}
	if err := v.checkName(name); err != nil {
		return err
	}
	v.roster.Members = append(v.roster.Members, newMember(name, recipient))
	return v.writeList(ctx, v.me)
}

// Remove makes a machine no member any more, by its name or recipient, and changes the key: it can read nothing that is
// written from then on. What it wrote so far stays, as far as it can be seen here.
func (v *Vault) Remove(ctx context.Context, name string) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	wanted := func(m member) bool { return !m.Phrase && (m.Name == name || m.Recipient == name) }
	for _, m := range v.roster.Members {
		if wanted(m) && m.Recipient == v.own.Recipient {
			return scrollback.ParamErrorf(op, "name", i18n.VaultNotItself)
		}
	}
	if !v.roster.remove(wanted, v.ends()) {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.VaultNoSuchMachine, name)
	}
	v.roster.newKey()
	return v.writeList(ctx, v.me)
}

// NewPhrase replaces the recovery phrase and changes the key: the old one opens nothing that is written from then on.
func (v *Vault) NewPhrase(ctx context.Context) (string, error) {
	if err := v.lookBefore(ctx); err != nil {
		return "", err
	}
	phrase := makePhrase()
	recovery, err := readPhrase(phrase)
	if err != nil {
		return "", err
	}
	own, err := recovery.Own()
	if err != nil {
		return "", err
	}
	v.roster.remove(func(m member) bool { return m.Phrase }, nil)
	m := newMember("", own.Recipient)
	m.Phrase = true
	v.roster.Members = append(v.roster.Members, m)
	v.roster.newKey()
	return phrase, v.writeList(ctx, v.me)
}

// lookBefore looks if nobody has yet, and returns why nothing may be written.
func (v *Vault) lookBefore(ctx context.Context) error {
	if !v.looked {
		if _, err := v.Look(ctx); err != nil {
			return err
		}
	}
	return v.blocked
}

// ends returns the numbers of the newest heads that were seen.
func (v *Vault) ends() map[string]uint64 {
	out := map[string]uint64{}
	for w, seen := range v.state.Readers {
		for _, l := range seen.Lines {
			out[w] = max(out[w], l.Number)
		}
	}
	return out
}

// readList reads a key list.
func (v *Vault) readList(ctx context.Context, key, name string, me identity.Keys, secret []byte) (sealedRoster, error) {
	object, err := v.objects.Read(ctx, key, maxList)
	if err != nil {
		return sealedRoster{}, err
	}
	if nameOf(object) != name {
		return sealedRoster{}, errDamaged
	}
	return openRoster(object, me, secret)
}

// readLists reads the key lists that are not known yet, with some keys, and joins those that members wrote. What
// cannot be read and may matter keeps this machine from writing.
func (v *Vault) readLists(ctx context.Context, me identity.Keys) {
	v.blocked = nil
	type found struct {
		key, name string
		err       error
	}
	var lists []sealedRoster
	var read []found
	var others []found // could not be opened
	secret := v.roster.Secret
	for _, w := range v.there.writers() {
		for _, name := range v.there.lists[w] {
			if slices.Contains(v.roster.Covers, name) {
				continue
			}
			f := found{key: listKey(w, name), name: name}
			var l sealedRoster
			if l, f.err = v.readList(ctx, f.key, name, me, secret); f.err != nil {
				others = append(others, f)
				continue
			}
			if vaultID(l.Secret) != v.state.Vault {
				f.err = errForeign
				others = append(others, f)
				continue
			}
			lists = append(lists, l)
			read = append(read, f)
		}
	}
	next := v.roster.clone()
	strangers := next.believe(lists)
	for i, f := range read {
		if !slices.Contains(strangers, i) {
			next.Covers = union(next.Covers, []string{f.name})
			continue
		}
		author := lists[i].author
		switch known := func(g removal) bool { return g.Recipient == author }; {
		case slices.Contains(next.Covers, f.name):
		case slices.ContainsFunc(next.Removed, known):
			v.refuse(f.key, errStranger)
			next.Covers = union(next.Covers, []string{f.name}) // else who cannot open it waits for one that says this
		default: // the list that says who that is may be under way
			v.comes(f.key)
		}
	}
	if len(lists) > 0 {
		v.state.Unsaid = !v.isSaid(next, lists, func(i int) string { return read[i].name })
	}
	v.roster = next
	for _, f := range others {
		if slices.Contains(v.roster.Covers, f.name) {
			continue
		}
		if errors.Is(f.err, errForeign) && secret == nil && v.roster.Secret != nil {
			// Whether it is of this vault could not be told before.
			_, f.err = v.readList(ctx, f.key, f.name, me, v.roster.Secret)
		}
		v.blockBy(f.key, f.err)
	}
}

// isSaid reports whether one of the lists that were read can be opened by all members and covers each list that some
// cannot open: else who cannot waits for one that does.
func (v *Vault) isSaid(next roster, lists []sealedRoster, name func(int) string) bool {
	full := func(to []string) bool {
		return !slices.ContainsFunc(next.Members, func(m member) bool { return !slices.Contains(to, m.Recipient) })
	}
	var open []string // names of lists that all can open
	if full(v.state.SaidTo) {
		open = append(open, v.state.List)
	}
	var whole []sealedRoster
	for i, l := range lists {
		if next.byRecipient(l.author) != nil && full(l.recipients()) {
			open = append(open, name(i))
			whole = append(whole, l)
		}
	}
	var need []string
	for _, w := range v.there.writers() {
		for _, name := range v.there.lists[w] {
			if slices.Contains(next.Covers, name) && !slices.Contains(open, name) {
				need = append(need, name)
			}
		}
	}
	return slices.ContainsFunc(whole, func(l sealedRoster) bool {
		return !slices.ContainsFunc(need, func(name string) bool { return !slices.Contains(l.Covers, name) })
	})
}

// errStranger says that an object was written by somebody who is not a member.
var errStranger = errors.New("who wrote it is not a machine of this remote")

// blockBy notes a key list that could not be used, and that it keeps this machine from writing if it may matter.
func (v *Vault) blockBy(key string, err error) {
	switch {
	case errors.Is(err, errForeign):
		v.refuse(key, err)
	case errors.Is(err, errNotForUs):
		v.blocked = scrollback.Errorf(scrollback.Refused, op, i18n.VaultKeysNotForUs, v.own.Recipient)
	case errors.Is(err, errDamaged), errors.Is(err, errTooLong):
		v.refuse(key, errDamaged)
		if v.blocked == nil {
			v.blocked = scrollback.Errorf(scrollback.Refused, op, i18n.VaultKeysDamaged, key)
		}
	case errors.Is(err, blob.ErrMissing), errors.Is(err, ErrNotHere):
		v.comes(key)
		if v.blocked == nil {
			v.blocked = scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultKeysNotHere)
		}
	default:
		v.comes(key)
		if v.blocked == nil {
			v.blocked = scrollback.Wrap(scrollback.Unavailable, op, err)
		}
	}
}
