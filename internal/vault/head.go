package vault

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/identity"
)

// head is the newest that a writer says of what it wrote: one object names all others.
type head struct {
	Number  uint64  `json:"number"` // one more than that of the head before
	Before  string  `json:"before"` // the name of the head before
	List    string  `json:"list"`   // the name of the writer's own key list
	First   uint64  `json:"first"`  // the number of the first batch that is still there
	Last    uint64  `json:"last"`   // and of the last there ever was
	Chain   string  `json:"chain"`  // what the runs are up to there
	Sum     string  `json:"sum"`    // over the names of all data objects
	Indexes []index `json:"indexes,omitempty"`
	Runs    []run   `json:"runs,omitempty"` // those behind the indexes
}

// index is an object with older runs.
type index struct {
	Name string `json:"name"`
	Last uint64 `json:"last"` // the number of the last batch in it
}

// run is what was written at one time: batches, one behind the other, cut into objects.
type run struct {
	First   uint64  `json:"first"`   // the number of the first batch
	Chain   string  `json:"chain"`   // follows from that of the run before and a random number
	Sizes   []int   `json:"sizes"`   // of the batches, in bytes; one that was dropped has none
	Objects []piece `json:"objects"` // in order
}

// piece is an object with a part of a run, or of an artifact.
type piece struct {
	Name string `json:"name"`
	Used int    `json:"used"` // bytes
}

// last returns the number of the last batch of a run.
func (r run) last() uint64 { return r.First + uint64(len(r.Sizes)) - 1 }

// Bounds of what a head says. They are far above what is written.
const (
	maxRunBatches = 4096
	maxRunObjects = 64
	runObjects    = 16       // a run ends when it has as many
	maxRunsInHead = 12 << 10 // bytes; beyond that they go into an index
	maxBatch      = 32 << 20 // bytes
)

// writerKey is what a writer signs its heads with. Its id is a hash of the public half.
type writerKey struct {
	id  string
	key ed25519.PrivateKey
}

// deriveWriter returns the writer of a machine's identity and a salt.
func deriveWriter(me identity.Keys, salt []byte) (writerKey, error) {
	seed, err := me.Derive(salt, "scrollback vault writer 1")
	if err != nil {
		return writerKey{}, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	return writerKey{writerID(key.Public().(ed25519.PublicKey)), key}, nil
}

func writerID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(append([]byte("scrollback vault writer\x00"), public...))
	return encodeName(sum[:])
}

// signed returns what is signed of a head.
func signed(vault, writer string, text []byte) []byte {
	return slices.Concat([]byte("scrollback vault head 1\x00"+vault+"\x00"+writer+"\x00"), text)
}

const signatureBytes = ed25519.PublicKeySize + ed25519.SignatureSize

// encodeHead returns the payload of a head, signed.
func encodeHead(h head, vault string, w writerKey) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	signature := ed25519.Sign(w.key, signed(vault, w.id, text))
	return slices.Concat(w.key.Public().(ed25519.PublicKey), signature, text), nil
}

// decodeHead reads the payload of a head that a writer has to have signed.
func decodeHead(payload []byte, vault, writer string, number uint64) (h head, err error) {
	if len(payload) < signatureBytes {
		return h, errDamaged
	}
	public := ed25519.PublicKey(payload[:ed25519.PublicKeySize])
	text := payload[signatureBytes:]
	if writerID(public) != writer ||
		!ed25519.Verify(public, signed(vault, writer, text), payload[ed25519.PublicKeySize:signatureBytes]) {
		return h, errDamaged
	}
	return parseHead(text, number)
}

// parseHead reads what a head says.
func parseHead(text []byte, number uint64) (h head, err error) {
	if json.Unmarshal(text, &h) != nil || h.Number != number || h.First == 0 || h.Last < h.First-1 {
		return head{}, errDamaged
	}
	before := h.First - 1
	for _, i := range h.Indexes {
		if i.Last < before || i.Last > h.Last {
			return head{}, errDamaged
		}
		before = i.Last
	}
	if end, ok := checkRuns(h.Runs, before); !ok || end != h.Last {
		return head{}, errDamaged
	}
	return h, nil
}

// checkRuns reports whether runs follow each other behind a batch, and returns the number of the last.
func checkRuns(runs []run, before uint64) (uint64, bool) {
	for _, r := range runs {
		if r.First != before+1 || len(r.Sizes) == 0 || len(r.Sizes) > maxRunBatches || len(r.Objects) > maxRunObjects+1 {
			return 0, false
		}
		total := 0
		for _, n := range r.Sizes {
			if n < 0 || n > maxBatch {
				return 0, false
			}
			total += n
		}
		for _, p := range r.Objects {
			if p.Used < 0 || p.Used > maxObject {
				return 0, false
			}
			total -= p.Used
		}
		if total != 0 {
			return 0, false
		}
		before = r.last()
	}
	return before, true
}

// decodeIndex reads the runs of an index that is to end with a batch.
func decodeIndex(payload []byte, last uint64) ([]run, error) {
	var out []run
	if json.Unmarshal(payload, &out) != nil || len(out) == 0 || out[0].First == 0 {
		return nil, errDamaged
	}
	if end, ok := checkRuns(out, out[0].First-1); !ok || end != last {
		return nil, errDamaged
	}
	return out, nil
}

// nextChain returns what the runs are up to and with another one.
func nextChain(before string, first uint64, count int, random []byte) string {
	hash := sha256.New()
	hash.Write([]byte(before))
	_ = binary.Write(hash, binary.BigEndian, first)
	_ = binary.Write(hash, binary.BigEndian, uint64(count))
	hash.Write(random)
	return encodeName(hash.Sum(nil))
}

// sumWith adds names of objects to a sum of others, or takes them away, so that two sets of names are compared at a
// glance. The sum of none is empty.
func sumWith(sum string, names ...string) string {
	have, err := letters.DecodeString(strings.ToUpper(sum))
	if err != nil || len(have) != nameBytes {
		have = make([]byte, nameBytes)
	}
	for _, name := range names {
		hash := sha256.Sum256([]byte(name))
		for i := range have {
			have[i] ^= hash[i]
		}
	}
	return encodeName(have)
}
