package move

// ListCarried lists the columns that are carried, as table.column.
func ListCarried() (out []string) {
	all := append([]*table{conversations, messages}, conversationTables...)
	for _, t := range append(all, wholeTables...) {
		for _, c := range t.columns {
			out = append(out, t.name+"."+c)
		}
	}
	return out
}
