package fullcopy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/seal"
	"github.com/scrollback-ai/scrollback/transcript"
)

// A sealed file ends with the member "seal": the SHA-256, in hex, of all bytes before its name.
const (
	sealBegin = `"seal":"`
	sealEnd   = `"}` + "\n"
	sealBytes = len(sealBegin) + 2*sha256.Size + len(sealEnd)
)

// headBytes is at most how long the beginning of a file is that says whether it is sealed.
const headBytes = 4096

// CheckSeal reports whether a file is sealed. One that was changed or cut off since it was sealed is
// invalid; a copy by an older program is not sealed, and neither is any other file. The file is at its
// beginning afterwards.
func CheckSeal(r io.ReadSeeker) (sealed bool, err error) {
	sealed, err = checkSeal(r)
	if _, back := r.Seek(0, io.SeekStart); err == nil && back != nil {
		err = scrollback.Wrap(scrollback.Unavailable, "fullcopy.CheckSeal", back)
	}
	return sealed, err
}

func checkSeal(r io.ReadSeeker) (sealed bool, err error) {
	const op = "fullcopy.CheckSeal"
	changed := scrollback.ParamErrorf(op, "file", i18n.CopySealBroken)
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return false, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	begin := make([]byte, min(size, headBytes))
	if err := seal.ReadAt(r, 0, begin); err != nil {
		return false, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	end := make([]byte, min(size, int64(sealBytes)))
	if err := seal.ReadAt(r, size-int64(len(end)), end); err != nil {
		return false, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	if !bytes.HasPrefix(end, []byte(sealBegin)) || !bytes.HasSuffix(end, []byte(sealEnd)) {
		if saysSealed(begin) {
			return false, changed
		}
		return false, nil
	}
	sum, err := seal.SumOf(r, size-int64(sealBytes))
	if err != nil {
		return false, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	if hex.EncodeToString(sum) != string(end[len(sealBegin):len(end)-len(sealEnd)]) {
		return false, changed
	}
	return true, nil
}

// saysSealed reports whether the beginning of a file says that there is a seal at its end.
func saysSealed(begin []byte) bool {
	d := transcript.NewDocument(bytes.NewReader(begin), transcript.MaxLine)
	if name, err := d.Next(); err != nil || name != "archive" {
		return false
	}
	raw, err := d.Value()
	var h head
	return err == nil && json.Unmarshal(raw, &h) == nil && h.Sealed
}
