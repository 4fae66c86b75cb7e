package model

import "io"

// The APIs of servers that a request can be forwarded in.
const (
	APIChat      = "chat"      // OpenAI's chat completions
	APIResponses = "responses" // OpenAI's responses
	APIMessages  = "messages"  // Anthropic's messages
	APIGemini    = "gemini"    // Google's generateContent
	APIOllama    = "ollama"    // Ollama's chat
)

// Forward is a request that a client wrote in a server's own API. It goes to the server as it stands, once: nothing is
// left out of it and nothing is tried again. The answer is read like any other, and its bytes go to Tap besides.
type Forward struct {
	API  string
	Body []byte // JSON
	// Whole says that the answer is not to be streamed, where the address says that and not the body.
	Whole bool
	// Count has the server count the tokens of the request, and not answer it. Only those of Anthropic and of Google
	// are asked so. What they count goes to Tap alone.
	Count bool
	// Header is sent with it, by canonical names.
	Header map[string][]string
	// Credential is the client's own, for a model whose key is not set here.
	Credential *Credential
	// Tap is called when the head of the response has come, and what it returns is written to as the body comes. It
	// may return nil.
	Tap func(ResponseHead) io.Writer
}

// Credential is a header that lets a client in at a server.
type Credential struct{ Name, Value string }

// ResponseHead is the head of a response: its status of HTTP, and its header by canonical names.
type ResponseHead struct {
	Status int
	Header map[string][]string
}
