package main

import (
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

// askedBefore are ends of an assistant's message behind which small talk is still small talk.
var askedBefore = map[string][]string{
	"en": {
		"Here is the plan for the first week.\n\n1. Read the log.\n2. Change the handler.\n\nWould you like me to go on with the second?",
		"There are two ways: keep the table and add a column, or make a second table. Which one do you prefer?",
		"I found three hotels near the station: the Anker, the Linde and the Post. Do you have a budget in mind?",
		"That should do it. Is there anything else that I should know about you or your family?"},
	"zh": {
		"第一周的安排如下：\n\n1. 先看日志。\n2. 再改处理函数。\n\n要我接着做第二步吗？",
		"有两种办法：在原表里加一列，或者另建一张表。您倾向于哪一种？",
		"车站附近有三家酒店：锚记、椴树和邮驿。您的预算大概是多少？",
		"这样应该就可以了。关于您或家人，还有什么我该知道的吗？"},
}

// besideReport says what the small talk that is held out does beside what stands: how much of it is kept because an
// assistant asked something before, how often it takes back what it has nothing to do with, and how often it closes
// a to-do.
func besideReport() (string, error) {
	all, err := readHeld()
	if err != nil {
		return "", err
	}
	var asked, answers, pairs, ended, todos, closed int
	for _, small := range all {
		if small.kind != "talk" || small.context != "" {
			continue
		}
		for _, before := range askedBefore[small.lang[:2]] {
			asked++
			if len(kept.Find(scrollback.RoleUser, small.text, before)) > 0 {
				answers++
			}
		}
		for _, c := range all {
			switch {
			case c.lang != small.lang:
			case c.kind == "trait" || c.kind == "instruction":
				pairs++
				if kept.Replaces(small.text, c.text) {
					ended++
				}
			case c.kind == "todo":
				todos++
				if kept.Closes(scrollback.RoleUser, small.text, c.text) {
					closed++
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString(`
## Does small talk leave alone what stands?

Every sentence of small talk that is held out, behind four messages of an assistant that end with a question, and against
every sentence of its language that stands: ended is what it takes back or closes though it does not speak of it.

`)
	b.WriteString("| small talk | of | wrong, in percent |\n|---|---|---|\n")
	row := func(what string, of, wrong int) {
		fmt.Fprintf(&b, "| %s | %d | %.3f |\n", what, of, 100*float64(wrong)/float64(max(1, of)))
	}
	row("is kept behind a question of the assistant", asked, answers)
	row("takes back a trait or an instruction that it does not speak of", pairs, ended)
	row("closes a to-do that it does not speak of", todos, closed)
	return b.String(), nil
}

// readHeld reads the cases that are held out.
func readHeld() ([]keptCase, error) {
	const name = "kept-held.tsv"
	text, err := keptTexts.ReadFile("texts/" + name)
	if err != nil {
		return nil, err
	}
	return readCases(name, string(text))
}
