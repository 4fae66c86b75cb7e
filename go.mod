module github.com/scrollback-ai/scrollback

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	pgregory.net/rapid v1.3.0
)
