package picture

import (
	"image"
	"image/draw"
)

// stripRows is how many rows are converted at a time.
const stripRows = 16

// shrinkImage returns the part of an image on a canvas, made smaller: each pixel is the mean of
// those it stands for. It holds one strip of the image beside the result, where the
// filters of golang.org/x/image/draw hold a copy in floating point.
func shrinkImage(src image.Image, canvas image.Rectangle, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	sw := canvas.Dx()
	sh := canvas.Dy()
	strip := image.NewRGBA(image.Rect(0, 0, sw, min(stripRows, sh)))
	line := make([]uint64, 4*width)
	sums := make([]uint64, 4*width)
	y := 0 // of the row in the making
	for top := 0; top < sh; top += stripRows {
		rows := min(stripRows, sh-top)
		clear(strip.Pix)
		draw.Draw(strip, image.Rect(0, 0, sw, rows), src, image.Pt(canvas.Min.X, canvas.Min.Y+top), draw.Src)
		for r := range rows {
			addMeans(line, strip.Pix[r*strip.Stride:][:4*sw], width)
			// The row covers from (top+r)·height to the same of the next, a row of the result sh.
			from := (top + r) * height
			to := (top + r + 1) * height
			for from < to {
				part := min(to, (y+1)*sh) - from
				for i, v := range line {
					sums[i] += v * uint64(part)
				}
				if from += part; from == (y+1)*sh {
					finishRow(out.Pix[y*out.Stride:], sums, uint64(sw)*uint64(sh))
					y++
				}
			}
		}
	}
	return out
}

// addMeans adds up a row of pixels for each of width pixels, weighted by how much of each
// belongs to it; the weights of one add up to the number of pixels in the row.
func addMeans(line []uint64, row []byte, width int) {
	clear(line)
	n := len(row) / 4
	x := 0
	for i := range n {
		from := i * width
		to := (i + 1) * width
		for from < to {
			part := min(to, (x+1)*n) - from
			for c := range 4 {
				line[4*x+c] += uint64(row[4*i+c]) * uint64(part)
			}
			if from += part; from == (x+1)*n {
				x++
			}
		}
	}
}

// finishRow writes a row of means and begins the next.
func finishRow(pix []byte, sums []uint64, weight uint64) {
	for i, v := range sums {
		pix[i] = byte((v + weight/2) / weight)
	}
	clear(sums)
}

// rotateUpright stands an image upright: its orientation is as EXIF counts them.
func rotateUpright(img *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 {
		return img
	}
	w := img.Rect.Dx()
	h := img.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation > 4 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx := x
			ty := y
			switch orientation {
			case 2:
				tx = w - 1 - x
			case 3:
				tx = w - 1 - x
				ty = h - 1 - y
			case 4:
				ty = h - 1 - y
			case 5:
				tx = y
				ty = x
			case 6:
				tx = h - 1 - y
				ty = x
			case 7:
				tx = h - 1 - y
				ty = w - 1 - x
			case 8:
				tx = y
				ty = w - 1 - x
			}
			copy(out.Pix[out.PixOffset(tx, ty):][:4], img.Pix[img.PixOffset(x, y):][:4])
		}
	}
	return out
}
