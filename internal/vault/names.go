package vault

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// markerName is the object that says that here is a vault, and of which protocol.
const markerName = "scrollback-vault.json"

// The folders of a vault: heads and key lists, data, artifacts. Below each is one of every writer.
const (
	metaFolder     = "m"
	dataFolder     = "d"
	artifactFolder = "a"
)

// letters writes bytes in small letters and digits, which every file system keeps.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// nameBytes is how many bytes of a hash are in a name.
const nameBytes = 20

// encodeName returns the first bytes of a hash as a part of a name.
func encodeName(hash []byte) string { return strings.ToLower(letters.EncodeToString(hash[:nameBytes])) }

// nameOf returns the name that follows from the content of an object.
func nameOf(content []byte) string {
	hash := sha256.Sum256(content)
	return encodeName(hash[:])
}

func headKey(writer string, number uint64, name string) string {
	return fmt.Sprintf("%s/%s/h%08x-%s", metaFolder, writer, number, name)
}

func listKey(writer, name string) string { return metaFolder + "/" + writer + "/k-" + name }

func dataKey(writer, name string) string { return dataFolder + "/" + writer + "/" + name }

func artifactKey(writer string, manifest bool, keyed, name string) string {
	kind := "p"
	if manifest {
		kind = "m"
	}
	return artifactFolder + "/" + writer + "/" + kind + keyed + "-" + name
}

// kinds of objects.
type kind string

const (
	headKind     kind = "head"
	listKind     kind = "list"
	dataKind     kind = "data"
	indexKind    kind = "index" // it stands where data stands
	manifestKind kind = "manifest"
	pieceKind    kind = "piece"
)

// place is what a key says.
type place struct {
	kind   kind
	writer string
	number uint64 // of a head
	keyed  string // of an artifact
	name   string // the hash of the content
}

var (
	headPath     = lazyregexp.New(`^m/([a-z2-7]{32})/h([0-9a-f]{8,16})-([a-z2-7]{32})$`)
	listPath     = lazyregexp.New(`^m/([a-z2-7]{32})/k-([a-z2-7]{32})$`)
	dataPath     = lazyregexp.New(`^d/([a-z2-7]{32})/([a-z2-7]{32})$`)
	artifactPath = lazyregexp.New(`^a/([a-z2-7]{32})/([mp])([a-z2-7]{32})-([a-z2-7]{32})$`)
	partPath     = lazyregexp.New(`^[mda]/([a-z2-7]{32})/\.part-[a-z2-7]+$`)
)

// parseKey returns what a key says. One that says nothing is not ours.
func parseKey(key string) (place, bool) {
	if m := headPath().FindStringSubmatch(key); m != nil {
		n, err := strconv.ParseUint(m[2], 16, 64)
		return place{kind: headKind, writer: m[1], number: n, name: m[3]}, err == nil && headKey(m[1], n, m[3]) == key
	}
	if m := listPath().FindStringSubmatch(key); m != nil {
		return place{kind: listKind, writer: m[1], name: m[2]}, true
	}
	if m := dataPath().FindStringSubmatch(key); m != nil {
		return place{kind: dataKind, writer: m[1], name: m[2]}, true
	}
	if m := artifactPath().FindStringSubmatch(key); m != nil {
		k := pieceKind
		if m[2] == "m" {
			k = manifestKind
		}
		return place{kind: k, writer: m[1], keyed: m[3], name: m[4]}, true
	}
	return place{}, false
}

// isOurFolder reports whether a folder can hold objects of a vault.
func isOurFolder(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top == metaFolder || top == dataFolder || top == artifactFolder
}
