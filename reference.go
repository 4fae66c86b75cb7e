package scrollback

// ReferenceKind is the kind of thing that a mark in a prompt named.
type ReferenceKind string

// The kinds of references.
const (
	ReferenceFile   ReferenceKind = "file"
	ReferenceFolder ReferenceKind = "folder"
	ReferenceImage  ReferenceKind = "image"
	ReferenceTool   ReferenceKind = "tool" // a recall tool, run before the model was asked
)

// Reference says that a text is not what somebody said but what a mark in the prompt
// named, as it was then. The same content of the same source has the same version; an
// unchanged text says only which message has it.
type Reference struct {
	Mark string `json:"mark"` // as it stands in the prompt, without @[ and ]
	// what was read: a path with its root's name in front, or a tool with its arguments
	Source   string        `json:"source"`
	Kind     ReferenceKind `json:"kind"`
	Version  int           `json:"version,omitempty"`  // of the source in its conversation, from 1
	Language string        `json:"language,omitempty"` // of a file, as fences name it
	SHA256   string        `json:"sha256,omitempty"`   // of the content, in hex
	Bytes    int64         `json:"bytes,omitempty"`    // of the content
	SameAs   int64         `json:"same_as,omitempty"`  // seq of the message that has the unchanged content
	Note     string        `json:"note,omitempty"`     // what was left out or made smaller
	Error    string        `json:"error,omitempty"`    // why there is no content, such as "refused: outside the roots"
}

// IsRecall reports whether the text is what a look-up in the log found: it repeats the log, so it
// is never searched.
func (t Text) IsRecall() bool { return t.Reference != nil && t.Reference.Kind == ReferenceTool }

// IsWhole reports whether the text has the content of a version, and does not only speak of it.
func (r Reference) IsWhole() bool { return r.Version > 0 && r.SameAs == 0 && r.Error == "" }

// References lists what the texts among parts refer to, in order.
func (ps Parts) References() (out []Reference) {
	for _, p := range ps {
		if t, ok := p.(Text); ok && t.Reference != nil {
			out = append(out, *t.Reference)
		}
	}
	return out
}
