package threading

import (
	"context"
)

// maxBeside is how many turns beside a path are looked at with each request.
const maxBeside = 32

// findLeaves finds the turns that are leaves now that the path goes on behind a request: they stand where another turn
// of this path does, were no turns of the path themselves (they came with other tools, instructions or another model,
// or while another request ran), and nothing went on from them.
func (s *search) findLeaves(ctx context.Context, out *Match, before *RequestRow) error {
	rows, err := s.Index.Beside(ctx, out.thread.ID, before.Base, maxBeside)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.ID == before.ID || row.Leaf || row.State == Running || row.Base.Seq >= out.Base.Seq {
			continue
		}
		leaf, err := s.isLeaf(ctx, out, before, row)
		if err != nil {
			return err
		}
		if leaf {
			out.Leaves = append(out.Leaves, row.ID)
		}
	}
	return nil
}

func (s *search) isLeaf(ctx context.Context, out *Match, before *RequestRow, row RequestRow) (bool, error) {
	passes, err := s.onPath(ctx, row.Base, out.Base)
	if err != nil || !passes {
		return false, err
	}
	if through, err := s.onPath(ctx, row.End, out.Base); err != nil || through {
		return false, err
	}
	if !row.Overlap {
		if row.Profile == before.Profile {
			return false, nil
		}
		// A person may change the model and then go back: that turn is like the one before it.
		base, err := s.Index.At(ctx, row.Base)
		if err != nil {
			return false, err
		}
		if base != nil {
			parent, err := s.Index.Request(ctx, base.Request)
			if err != nil {
				return false, err
			}
			if parent != nil && parent.Profile == row.Profile {
				return false, nil
			}
		}
	}
	following, err := s.Index.Following(ctx, row.Tip, 1)
	return len(following) == 0, err
}
