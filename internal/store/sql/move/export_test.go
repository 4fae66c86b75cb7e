package move

// Carried lists the columns that are carried, as table.column.
func Carried() (out []string) {
	all := append([]*table{conversations, messages}, belonging...)
	for _, t := range append(all, whole...) {
		for _, c := range t.columns {
			out = append(out, t.name+"."+c)
		}
	}
	return out
}
