package wire

// Annotation is a page that an answer cites, in one of two forms: responses say it flat,
// chat completions under URLCitation.
type Annotation struct {
	Type        string    `json:"type"` // url_citation
	URL         string    `json:"url,omitempty"`
	Title       string    `json:"title,omitempty"`
	URLCitation *Citation `json:"url_citation,omitempty"`
}

// Citation is a page, with a piece of its text where the server sends one.
type Citation struct {
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Content string `json:"content,omitempty"`
}
