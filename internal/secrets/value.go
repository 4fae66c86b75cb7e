package secrets

import "strings"

// valueName is what the name of a value says, and whether that is a variable of the environment.
type valueName struct {
	by   strength
	what string
	env  bool
}

// findValue returns the value that begins at from or behind spaces and quotes, if it is a secret.
// That of a variable of the environment goes on to the next space.
func findValue(s string, from int, n valueName) secretSpan {
	j := from
	// **Password:** in Markdown
	for j < len(s) && j-from < 24 && (s[j] == ' ' || s[j] == '\t' || s[j] == '*' && j-from < 2) {
		j++
	}
	escaped := false
	quote := byte(0)
	for j < len(s) && s[j] == '\\' {
		escaped = true
		j++
	}
	if j < len(s) && strings.IndexByte("\"'`", s[j]) >= 0 {
		quote = s[j]
		j++
	} else if escaped {
		return secretSpan{}
	}
	j = skipScheme(s, j)
	if beginsToken(s, j) {
		return secretSpan{} // it is found by its own rule
	}
	to := j
	limit := most
	if quote == 0 && !n.env {
		limit = mostBare
	}
	for to < len(s) && to-j <= limit && !endsValue(s, to, quote, n.env) {
		if s[to] == '\\' && quote != 0 && !escaped && to+1 < len(s) {
			to++ // what is escaped belongs to the value
		}
		to++
	}
	to = min(to, len(s))
	v := s[j:to]
	if quote == 0 && !n.env {
		v = strings.TrimRight(v, ".:!?")
	}
	if to-j > limit || !isSecret(v, quote != 0 || n.env, n.by) {
		return secretSpan{}
	}
	if quote == 0 && to < len(s) && s[to] == '(' {
		return secretSpan{} // a call
	}
	return secretSpan{j, j + len(v), n.what}
}

// beginsToken reports whether a vendor's token begins at i.
func beginsToken(s string, i int) bool {
	if i+12 > len(s) {
		return false
	}
	if at := findToken(s, i); at.to > at.from {
		return true
	}
	for j := i + 8; j <= i+10 && j < len(s); j++ {
		if s[j] == ':' && findTelegram(s, j).from == i && findTelegram(s, j).to > 0 {
			return true
		}
	}
	return s[i+5] == '~' && findAzure(s, i+5).to > 0
}

// skipScheme skips how a request is authorized.
func skipScheme(s string, j int) int {
	for _, w := range []string{"Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token ", "ApiKey ", "Bot "} {
		if strings.HasPrefix(s[j:], w) {
			return j + len(w)
		}
	}
	return j
}

// endsValue reports whether a value ends at i.
func endsValue(s string, i int, quote byte, env bool) bool {
	b := s[i]
	switch {
	case quote != 0:
		return b == quote || b == '\n' || b == '\\' && i+1 < len(s) && s[i+1] == quote
	case class[b]&isSpace != 0:
		return true
	case env:
		return b == '"' || b == '\'' || b == '`' || b == '\\'
	}
	return b >= 0x80 || strings.IndexByte("\"'`\\,;&<>)}](", b) >= 0
}

// findFlag returns the value of a flag on a command line, whose name begins at i.
func findFlag(s string, i int) secretSpan {
	to := i
	for to < len(s) && to-i < mostName && class[s[to]]&inURL != 0 {
		to++
	}
	if to >= len(s) || s[to] != ' ' {
		return secretSpan{}
	}
	by, what := nameStrength(s[i:to])
	if by < strong {
		return secretSpan{}
	}
	return findValue(s, to, valueName{by, what, false})
}

// findUserPassword returns the password behind curl -u name:password, or --user.
func findUserPassword(s string, i int) secretSpan {
	rest, ok := strings.CutPrefix(s[i:], "-u")
	if !ok {
		if rest, ok = strings.CutPrefix(s[i:], "--user"); !ok {
			return secretSpan{}
		}
	}
	line := s[max(0, i-200):i]
	if !strings.Contains(line[strings.LastIndexByte(line, '\n')+1:], "curl ") {
		return secretSpan{}
	}
	rest = strings.TrimLeft(rest, " =\\\"'")
	name := strings.IndexByte(rest[:min(len(rest), mostName)], ':')
	if name < 0 || strings.ContainsAny(rest[:name], " \n\"'") {
		return secretSpan{}
	}
	from := len(s) - len(rest) + name + 1
	to := from
	for to < len(s) && !endsValue(s, to, 0, true) {
		to++
	}
	if v := s[from:to]; len(v) < 3 || isWellKnown(v) || isPlaceholder(v) || strings.ContainsAny(v, "$<>{}") {
		return secretSpan{}
	}
	return secretSpan{from, to, "password"}
}

// findElement returns what stands in an XML element whose first tag ends at i.
func findElement(s string, i int) secretSpan {
	from := i
	for from > 0 && i-from < mostName && (class[s[from-1]]&inURL != 0 || s[from-1] == ':' || s[from-1] == '.') {
		from--
	}
	if from == i || from == 0 || s[from-1] != '<' {
		return secretSpan{}
	}
	to := strings.IndexByte(s[i:min(len(s), i+most)], '<')
	if to < 0 || !strings.HasPrefix(s[i+to:], "</") {
		return secretSpan{}
	}
	by, what := nameStrength(s[from:i])
	if !isSecret(s[i+1:i+to], true, by) {
		return secretSpan{}
	}
	return secretSpan{i + 1, i + to, what}
}
