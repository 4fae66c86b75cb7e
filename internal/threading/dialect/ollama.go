package dialect

import "github.com/scrollback-ai/scrollback/internal/threading"

// readOllama reads a request of Ollama's chat. A result names its tool rather than its call.
func (l *list) readOllama(fields map[string]any) {
	for _, tool := range elements(fields["tools"]) {
		l.addTool(field(tool, "function", "name"))
	}
	for i, m := range elements(fields["messages"]) {
		l.message = i
		o := object(m)
		l.readChatMessage(o)
		l.each(o["images"], func(image any) {
			l.add(threading.Item{Role: roleOf(o["role"]), Kind: threading.Image, Text: digest(image),
				Media: readPlainMedia(image)})
		})
	}
}
