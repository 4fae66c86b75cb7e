package picture

import (
	"bytes"
	"encoding/binary"
)

// imageShape is what an image says about itself. Where it says several things, the largest
// counts: a decoder may trust any of them.
type imageShape struct {
	format        string // png, jpeg, gif or webp
	width, height int    // as stored, before it is turned upright
	frames        int
	animated      int64 // pixels of all frames, if there are several
	orientation   int   // as EXIF counts, 1 to 8; 0 where nothing is said
	memory        int64 // bytes that decoding takes at most, roughly
	whole         bool  // it ends as its format ends
}

// readShape reads the headers of an image, in time linear in its bytes.
func readShape(b []byte) (s imageShape, err error) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		s = readPNG(b[8:])
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		s = readJPEG(b[2:])
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		s = readGIF(b[6:])
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		s = readWebP(b)
	default:
		return s, newNotImageError(b)
	}
	if s.frames < 2 {
		s.animated = 0
	}
	return s, nil
}

// addSize takes a size into account.
func (s *imageShape) addSize(width, height int) {
	s.width = max(s.width, width)
	s.height = max(s.height, height)
}

// uprightSize returns its size when it stands upright.
func (s *imageShape) uprightSize() (width, height int) {
	if s.orientation > 4 {
		return s.height, s.width
	}
	return s.width, s.height
}

func (s *imageShape) pixelCount() int64 { return int64(s.width) * int64(s.height) }

// readPNG walks the chunks: length, type, content, checksum.
func readPNG(b []byte) imageShape {
	s := imageShape{format: "png", frames: 1}
	perPixel := int64(4)
	for len(b) >= 12 {
		n := int64(binary.BigEndian.Uint32(b))
		kind := string(b[4:8])
		if n > int64(len(b))-12 {
			break
		}
		body := b[8 : 8+n]
		switch {
		case kind == "IHDR" && n == 13:
			s.addSize(int(int32(binary.BigEndian.Uint32(body))), int(int32(binary.BigEndian.Uint32(body[4:]))))
			if body[8] == 16 {
				perPixel = 8
			}
			if body[12] != 0 { // each pass is decoded by itself
				perPixel *= 2
			}
		case kind == "acTL" && n == 8:
			s.frames = max(1, int(binary.BigEndian.Uint32(body)))
		case kind == "eXIf":
			s.orientation = readOrientation(body)
		case kind == "IEND":
			s.whole = true
		}
		if b = b[12+n:]; s.whole {
			break
		}
	}
	s.memory = s.pixelCount() * perPixel
	s.animated = s.pixelCount() * min(int64(s.frames), 1<<20)
	return s
}

// readJPEG walks the segments as far as the pixels, and looks for the end behind them.
func readJPEG(b []byte) imageShape {
	s := imageShape{format: "jpeg", frames: 1}
	plain := false
	perPixel := int64(0)
	for len(b) >= 4 {
		if b[0] != 0xff {
			b = b[1:] // not between segments, but decoders skip it
			continue
		}
		kind := b[1]
		if kind == 0xff || kind == 0 || kind == 1 || kind >= 0xd0 && kind <= 0xd8 { // without content
			b = b[1:]
			continue
		}
		n := int(binary.BigEndian.Uint16(b[2:]))
		if kind == 0xd9 || n < 2 || n > len(b)-2 {
			break
		}
		body := b[4 : 2+n]
		switch {
		case kind == 0xe0 && bytes.HasPrefix(body, []byte("JFIF\x00")):
			plain = true
		case kind == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			s.orientation = readOrientation(body[6:])
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc && len(body) >= 6:
			s.addSize(int(binary.BigEndian.Uint16(body[3:])), int(binary.BigEndian.Uint16(body[1:])))
			perPixel = max(perPixel, sampleSize(body[5:]))
			if kind == 0xc2 { // progressive: coefficients of four bytes are kept as well
				perPixel *= 5
			}
			if !plain || body[5] == 4 { // it may be copied into other colours
				perPixel += 4 * 16
			}
		}
		b = b[2+n:]
		if kind == 0xda {
			s.whole = bytes.Contains(b, []byte("\xff\xd9"))
			break
		}
	}
	s.memory = s.pixelCount() * perPixel / 16
	return s
}

// sampleSize returns how many sixteenths of a byte a pixel of a JPEG image takes, by its list of
// components: their number, and for each a name, its density and a table.
func sampleSize(list []byte) (n int64) {
	var most int64 = 1
	for c := 1; c+2 < len(list) && c < 3*int(list[0])+1; c += 3 {
		of := int64(list[c+1]>>4) * int64(list[c+1]&15)
		n += of
		most = max(most, of)
	}
	return max(16, (n*16+most-1)/most)
}

// readGIF walks the blocks of all frames.
func readGIF(b []byte) imageShape {
	s := imageShape{format: "gif"}
	if len(b) < 7 {
		return s
	}
	s.addSize(int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:])))
	s.memory = s.pixelCount()
	b = skipBytes(b, 7+colorTableSize(b[4]))
	for len(b) > 0 {
		switch b[0] {
		case 0x3b:
			s.whole = s.frames > 0
			return s
		case 0x21: // an extension
			b = skipBlocks(skipBytes(b, 2))
		case 0x2c: // a frame
			if len(b) < 10 {
				return s
			}
			w := binary.LittleEndian.Uint16(b[5:])
			h := binary.LittleEndian.Uint16(b[7:])
			s.animated += int64(w) * int64(h)
			rest := skipBlocks(skipBytes(b, 11+colorTableSize(b[9])))
			if rest == nil {
				return s
			}
			s.frames++
			b = rest
		default:
			return s
		}
	}
	s.whole = s.frames > 0 && b != nil // some writers leave out the last byte
	return s
}

// colorTableSize returns how many bytes a table of colours takes, by its flags.
func colorTableSize(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// skipBytes returns b without its first n bytes, or nil if it has fewer.
func skipBytes(b []byte, n int) []byte {
	if n > len(b) {
		return nil
	}
	return b[n:]
}

// skipBlocks returns what follows a list of counted blocks, or nil if it does not end.
func skipBlocks(b []byte) []byte {
	for len(b) > 0 {
		n := int(b[0])
		b = skipBytes(b, 1+n)
		if n == 0 {
			return b
		}
	}
	return nil
}

// readWebP walks the chunks of a RIFF file: type, length, content.
func readWebP(b []byte) imageShape {
	s := imageShape{format: "webp", frames: 1, whole: int64(binary.LittleEndian.Uint32(b[4:]))+8 <= int64(len(b))}
	frames := 0
	for b = b[12:]; len(b) >= 8; {
		n := int64(binary.LittleEndian.Uint32(b[4:]))
		kind := string(b[:4])
		body := b[8:]
		if n > int64(len(body)) {
			s.whole = false
			n = int64(len(body))
		}
		s.readChunk(kind, body[:n])
		if kind == "ANMF" && n >= 16 {
			frames++
			s.animated += int64(readUint24(body[6:])+1) * int64(readUint24(body[9:])+1)
		}
		b = body[min(n+n&1, int64(len(body))):]
	}
	s.frames = max(1, frames)
	s.memory = s.pixelCount() * 12
	return s
}

func (s *imageShape) readChunk(kind string, body []byte) {
	switch {
	case kind == "VP8X" && len(body) >= 10:
		s.addSize(readUint24(body[4:])+1, readUint24(body[7:])+1)
	case kind == "VP8 " && len(body) >= 10:
		s.addSize(int(binary.LittleEndian.Uint16(body[6:]))&0x3fff, int(binary.LittleEndian.Uint16(body[8:]))&0x3fff)
	case kind == "VP8L" && len(body) >= 5:
		bits := binary.LittleEndian.Uint32(body[1:])
		s.addSize(int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1)
	case kind == "EXIF":
		s.orientation = readOrientation(bytes.TrimPrefix(body, []byte("Exif\x00\x00")))
	}
}

func readUint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// readOrientation reads how an image is to be turned from its EXIF block, which is a small
// TIFF file: 1 to 8, or 0 where it says nothing.
func readOrientation(b []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case bytes.HasPrefix(b, []byte("II*\x00")):
		order = binary.LittleEndian
	case !bytes.HasPrefix(b, []byte("MM\x00*")):
		return 0
	}
	if len(b) < 8 {
		return 0
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 0
	}
	const tag, short = 0x112, 3
	count := int(order.Uint16(b[at:]))
	for b = b[at+2:]; count > 0 && len(b) >= 12; count, b = count-1, b[12:] {
		if order.Uint16(b) == tag && order.Uint16(b[2:]) == short {
			if o := int(order.Uint16(b[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
	}
	return 0
}
