package kept

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// TestClosesOnlyItsOwn closes a to-do by news of what it is about, and not by news of something beside it.
func TestClosesOnlyItsOwn(t *testing.T) {
	for _, c := range []struct {
		todo, news string
		want       bool
	}{
		{"TODO: send the invoice to Kim", "Sent the invoice to Kim.", true},
		{"TODO: send the invoice to Kim", "Sent the contract to Kim.", false},
		{"TODO: write tests for the parser", "I rewrote the parser yesterday.", false},
		{"TODO: repaint the back gate", "I've bought the paint for the gate.", false},
		{"Draft the rota for February (to do)", "January's rota is done.", false},
		{"Action for me: pay Bilal for the contract", "Paid Bilal for the contract this morning.", true},
		{"[ ] return the drill to Carlos", "Carlos has his drill back.", true},
		{"[ ] reply to the landlord", "Wrote to Mr Hale, you can cross that out.", true},
		{"待办：把合同寄给迈耶", "合同寄给迈耶了。", true},
		{"待办：把合同寄给迈耶", "合同寄给舒尔茨了。", false},
		{"待办：预约牙医", "牙医约好了。", true},
		{"待办：预约牙医", "牙医诊所换地址了。", false},
		{"待办：缴第三季的牌照税", "第二季的牌照税缴了。", false},
	} {
		if got := Closes(scrollback.RoleUser, c.news, c.todo); got != c.want {
			t.Errorf("%s / %s: %v", c.todo, c.news, got)
		}
	}
}

// TestReplacesValues takes back what had another value: a date, a sum, a name, a diet.
func TestReplacesValues(t *testing.T) {
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{"The deadline is Friday the 6th.", "The committee pushed it, we have until the 20th.", true},
		{"My budget is 900 a month.", "We can go up to 1,200 now.", true},
		{"My budget is 900 a month.", "The committee pushed it, we have until the 20th.", false},
		{"Call me Professor Lindqvist.", "Oh, just call me Anna.", true},
		{"Call me Professor Lindqvist.", "Call me when it's ready.", false},
		{"I'm vegetarian.", "I eat meat these days.", true},
		{"Mum can't manage stairs.", "Mum's new knee works and stairs are no bother to her now.", true},
		{"不许动生产库。", "生产库的磁盘用了百分之八十二。", false},
		{"我女儿牛奶过敏。", "女儿的牛奶过敏已经好了。", true},
	} {
		if got := Replaces(c.now, c.was); got != c.want {
			t.Errorf("%s / %s: %v", c.was, c.now, got)
		}
	}
}
